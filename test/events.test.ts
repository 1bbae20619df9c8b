import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Deployment, deploy } from '../local/deploy.ts';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { projectRoot } from '../local/synthesize.ts';
import { inContract } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { sampleEvent } from './support/event.ts';
import { expectedAnswers } from './support/expected-answers.ts';

let engine: Engine;
let deployment: Deployment;
beforeAll(async () => {
  engine = await startEngine();
  deployment = await deploy(engine.template, engine, () => {});
});
afterAll(async () => {
  await deployment.close();
  await engine.close();
});

test('every sample event is answered by the deployed bundle as expected', async () => {
  const [lambda] = deployment.functions.values();
  for (const [name, answer] of Object.entries(expectedAnswers)) {
    const response = JSON.parse((await lambda?.invoke(JSON.stringify(sampleEvent(name)))) ?? '');
    const body = inContract(response);
    if ('error' in answer) expect(body, name).toMatchObject(answer);
    else expect(body, name).toEqual(answer);
  }
  expect(await engine.stored(9223372036854775807n)).toEqual({
    id: '9223372036854775807',
    name: 'Sequoiadendron giganteum',
  });
  expect(await engine.stored(1n)).toEqual({ id: '1', name: 'Monstera deliciosa', tag: 'climber' });
});

test('no sample event is without an expected answer', () => {
  const files = readdirSync(join(projectRoot, 'events')).map((file) => file.replace('.json', ''));
  expect(files.toSorted()).toEqual(Object.keys(expectedAnswers).toSorted());
});

test('the plain success carries the development token in its Authorization header', () => {
  expect(sampleEvent('create-plant').headers['Authorization']).toBe(`Bearer ${DEVELOPMENT_TOKEN}`);
});
