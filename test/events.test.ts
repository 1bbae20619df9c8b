import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOperations } from '../contract/operations.ts';
import { type Deployment, deploy } from '../local/deploy.ts';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { type Answer, inContract } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { errorOfSample, sampleEvent, sampleNames } from './support/event.ts';

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

test('every sample event is answered by the deployed bundle as its name says', async () => {
  for (const name of sampleNames) {
    const event = sampleEvent(name);
    const answer = (await deployment.invoke(event)) as Answer;
    const body = inContract(answer, event);
    const error = errorOfSample(name);
    expect(answer.statusCode, name).toBe(error === undefined ? 200 : 400);
    expect(body['error'], name).toBe(error);
    if (!name.startsWith('create-plant')) continue;
    const sent = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8').toString();
    const { id: _, name: plantName, tag } = JSON.parse(sent);
    expect(body, name).toEqual({ name: plantName, tag });
    const id = /"id": ?(-?\d+)/.exec(sent)?.[1] ?? '';
    expect(await engine.stored(BigInt(id)), name).toEqual({ id, ...body });
  }
});

test.each(readOperations())(
  '$operationId has a sample event of a plain success, $folder',
  ({ folder, ...operation }) => {
    const { httpMethod, resource, headers } = sampleEvent(folder);
    expect({ method: httpMethod, path: resource }).toMatchObject({ method: operation.method, path: operation.path });
    expect(headers['Authorization']).toBe(`Bearer ${DEVELOPMENT_TOKEN}`);
  },
);

test('each sample event is named for an operation or for an error', () => {
  const folders = readOperations().map(({ folder }) => folder);
  const known = (name: string) =>
    errorOfSample(name) !== undefined || folders.some((folder) => `${name}-`.startsWith(`${folder}-`));
  expect(sampleNames.filter((name) => !known(name))).toEqual([]);
});
