import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Deployment, deploy } from '../local/deploy.ts';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { projectRoot } from '../local/synthesize.ts';
import { inContract } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { sampleEvent } from './support/event.ts';

/** What each sample is answered with, when they run in the order of their names. */
const expected: Record<string, object> = {
  'create-plant': { name: 'Monstera deliciosa', tag: 'climber' },
  'create-plant-again': { name: 'Monstera deliciosa', tag: 'climber' },
  'create-plant-base64-body': { name: 'Papaver rhœas' },
  'create-plant-largest-id': { name: 'Sequoiadendron giganteum' },
  'create-plant-odd-header-casing': { name: 'Dionaea muscipula' },
  'create-plant-smallest-id': { name: 'Wolffia globosa' },
  'create-plant-unicode': { name: '', tag: '\0 🌵 植物' },
  'create-plant-unknown-members': { name: 'Aloe vera' },
  'create-plant-without-tag': { name: 'Ficus lyrata' },
  'error-400-body-missing': { error: 400 },
  'error-400-body-not-json': { error: 400 },
  'error-400-body-not-utf-8': { error: 400 },
  'error-400-id-not-whole': { error: 400 },
  'error-400-id-out-of-range': { error: 400 },
  'error-400-lone-surrogate': { error: 400 },
  'error-400-members-missing': { error: 400 },
  'error-400-members-wrong': { error: 400 },
  'error-401-malformed-token': { error: 401 },
  'error-401-no-token': { error: 401 },
  'error-401-unknown-token': { error: 401 },
  'error-409-id-in-use': { error: 409 },
  'error-413-plant-too-large': { error: 413 },
  'error-415-not-declared-as-json': { error: 415 },
};

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
  for (const [name, answer] of Object.entries(expected)) {
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
  expect(files.toSorted()).toEqual(Object.keys(expected).toSorted());
});

test('the plain success carries the development token in its Authorization header', () => {
  expect(sampleEvent('create-plant').headers['Authorization']).toBe(`Bearer ${DEVELOPMENT_TOKEN}`);
});
