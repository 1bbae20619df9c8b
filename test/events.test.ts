import { expect, test } from 'vitest';
import { readOperations } from '../contract/operations.ts';
import { plantMembers } from '../functions/create-plant/contract.generated.js';
import { pick } from '../functions/shared/success.ts';
import { DEVELOPMENT_TOKEN } from '../local/dynamodb.ts';
import { deploy } from '../local/lambda.ts';
import { sharedTemplate } from './support/assembly.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { type ApiResponse, contractBody } from './support/contract.ts';
import { startEngine } from './support/engine.ts';
import { errorOfSample, sampleEvent, sampleNames } from './support/event.ts';

const operations = readOperations();

const template = await sharedTemplate();
const engine = closedAtEnd(await startEngine(template));
const deployment = closedAtEnd(await deploy(template, engine, () => {}));

test('the bundle’s response to each sample event is the one in the event’s name', async () => {
  for (const name of sampleNames) {
    const event = sampleEvent(name);
    const response = (await deployment.invoke(event)) as ApiResponse;
    const body = contractBody(response, event);
    expect({ name, error: body['error'] }).toEqual({ name, error: errorOfSample(name) });
    if (!name.startsWith('create-plant')) continue;
    const sent = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8').toString();
    expect(body, name).toEqual(pick(JSON.parse(sent), plantMembers));
    const id = /"id": ?(-?\d+)/.exec(sent)?.[1] ?? '';
    expect(await engine.stored(BigInt(id)), name).toEqual({ id, ...body });
  }
});

test.each(operations)('$operationId has a sample event for a success, $folder', ({ folder, method, path }) => {
  const { httpMethod, resource, headers } = sampleEvent(folder);
  expect({ httpMethod, resource }).toEqual({ httpMethod: method, resource: path });
  expect(headers['Authorization']).toBe(`Bearer ${DEVELOPMENT_TOKEN}`);
});

test('each sample event is named after an operation or an error', () => {
  const known = (name: string) =>
    errorOfSample(name) !== undefined || operations.some(({ folder }) => `${name}-`.startsWith(`${folder}-`));
  expect(sampleNames.filter((name) => !known(name))).toEqual([]);
});
