import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Operation, readOperations } from '../contract/operations.ts';
import { deploy } from '../local/deploy.ts';
import type { LogLine } from '../local/lambda.ts';
import { functionBehind, readTemplate } from '../local/template.ts';
import { type Answer, inContract } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { sampleEvent } from './support/event.ts';
import { type Fault, type Plan, startFaultProxy } from './support/fault-proxy.ts';
import { databaseCallsOf } from './support/permissions.ts';

/** What a caller gets, faults or not: below the function's timeout, which is below the gateway's. */
const ANSWER_WITHIN_MS = 8000;
const ALWAYS = Number.POSITIVE_INFINITY;

const assembly = inject('assembly');
const template = readTemplate(assembly);
const operations = readOperations();

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
  // What creates nothing reads what there is.
  const deployment = await deploy(template, engine, () => {});
  await deployment.invoke(sampleEvent('create-plant'));
  await deployment.close();
});
afterAll(() => engine.close());

let lastId = 1000n;

/** The deployed bundle of an operation in front of a database of this row alone. */
async function serviceOn(endpoint: string, { method, path, folder }: Operation) {
  const lines: LogLine[] = [];
  const functions = [functionBehind(template, method, path)];
  const deployment = await deploy({ ...template, functions }, { endpoint }, (line) => lines.push(line));
  lastId += 1n;
  const id = lastId;
  const event = sampleEvent(folder);

  async function answer(changes: Partial<APIGatewayProxyEvent> = {}) {
    const start = performance.now();
    const response = (await deployment.invoke({ ...event, ...changes })) as Answer;
    expect(performance.now() - start).toBeLessThan(ANSWER_WITHIN_MS);
    return inContract(response, event);
  }
  const create = (name: string) => answer({ body: `{"id":${id},"name":"${name}"}` });
  return {
    lines,
    close: deployment.close,
    create,
    stored: () => engine.stored(id),
    /** Asks for what succeeds; where a plant is created by it, for one of its own. */
    answer: () => (path === '/plants' && method === 'POST' ? create('fern') : answer()),
  };
}

async function serviceBehind(operation: Operation, ...plans: Plan[]) {
  const proxy = await startFaultProxy(engine.endpoint);
  const service = await serviceOn(proxy.endpoint, operation);
  proxy.plan(...plans);
  return {
    ...service,
    mend: () => proxy.plan(),
    close: async () => {
      await service.close();
      proxy.close();
    },
  };
}

/** The error number where a fault lasts. */
const faults: Record<Exclude<Fault, 'refuses access'>, number> = {
  hangs: 503,
  'stalls in the middle of its answer': 503,
  drips: 504,
  'resets the connection': 503,
  'answers 500': 503,
  throttles: 429,
  'answers 503 in HTML': 503,
  'answers 200 in HTML': 503,
  'answers half a JSON document': 503,
  'answers nothing': 503,
};
const rows = Object.entries(faults) as [Fault, number][];

const READ_TOKEN = `GetItem ${template.outputs['AccessTokensTableName']}`;
const PUT_PLANT = `PutItem ${template.outputs['PlantsTableName']}`;

/** Where a fault may strike: at each call that an operation makes; where it writes, before or after it has. */
const places = operations.flatMap((operation) => {
  const { name } = functionBehind(template, operation.method, operation.path);
  return databaseCallsOf(name, assembly).flatMap((call) =>
    (/^(Get|Query|Scan|BatchGet)/.test(call) ? [false] : [false, true]).map((applied) => ({
      ...operation,
      operation,
      call,
      applied,
      when: applied ? 'after it is done' : 'before it is done',
    })),
  );
});

describe.each(places)('$operationId, its call $call, $when', { concurrent: true }, ({ operation, call, applied }) => {
  test.for(rows)('a database that %s is an error %i, and a repeat after it is a 200', async ([fault, error]) => {
    const service = await serviceBehind(operation, { call, fault, applied, times: ALWAYS });
    const answer = await service.answer();
    expect(answer).toMatchObject({ error, message: expect.stringMatching(/[Rr]epeating the request .*is safe\.$/) });
    expect(await service.stored()).toEqual(
      applied && call === PUT_PLANT ? expect.objectContaining({ name: 'fern' }) : undefined,
    );
    expect(service.lines).toHaveLength(1);
    service.mend();
    expect(await service.answer()).not.toHaveProperty('error');
    if (call === PUT_PLANT) expect(await service.stored()).toMatchObject({ name: 'fern' });
    await service.close();
  });

  // What drips uses up all the time there is; the others leave time for another attempt.
  test.for(rows.filter(([fault]) => fault !== 'drips'))('a database that %s once is a 200', async ([fault]) => {
    const service = await serviceBehind(operation, { call, fault, applied, times: 1 });
    expect(await service.answer()).not.toHaveProperty('error');
    if (call === PUT_PLANT) expect(await service.stored()).toMatchObject({ name: 'fern' });
    await service.close();
  });
});

describe.each(operations)('$operationId, whatever happens', { concurrent: true }, (operation) => {
  test('a database that is not there is a 503', async () => {
    const service = await serviceOn('http://127.0.0.1:1', operation);
    expect(await service.answer()).toMatchObject({ error: 503 });
    await service.close();
  });

  test.for(rows)('a database that %s during init fails no init', async ([fault]) => {
    const proxy = await startFaultProxy(engine.endpoint);
    proxy.plan({ call: READ_TOKEN, fault, times: ALWAYS, applied: false });
    const service = await serviceOn(proxy.endpoint, operation);
    proxy.plan();
    expect(await service.answer()).not.toHaveProperty('error');
    await service.close();
    proxy.close();
  });

  test('a failed first request leaves nothing behind that breaks the next', async () => {
    const lost: Plan = { call: READ_TOKEN, fault: 'resets the connection', times: ALWAYS, applied: false };
    const service = await serviceBehind(operation, lost);
    expect(await service.answer()).toMatchObject({ error: 503 });
    expect(await service.answer()).toMatchObject({ error: 503 });
    service.mend();
    expect(await service.answer()).not.toHaveProperty('error');
    await service.close();
  });
});

describe('creating a plant', { concurrent: true }, () => {
  const createPlant = operations.find(({ operationId }) => operationId === 'createPlant') as Operation;

  test('a database that hangs twice on the token and twice on the plant is still a 200', async () => {
    const hang = { fault: 'hangs', times: 2, applied: false } as const;
    const service = await serviceBehind(createPlant, { call: READ_TOKEN, ...hang }, { call: PUT_PLANT, ...hang });
    expect(await service.create('fern')).toEqual({ name: 'fern' });
    await service.close();
  });

  test('a plant put in place of a lost answer is a conflict for any other', async () => {
    const lost: Plan = { call: PUT_PLANT, fault: 'resets the connection', times: 1, applied: true };
    const service = await serviceBehind(createPlant, lost);
    expect(await service.create('first')).toEqual({ name: 'first' });
    expect(await service.create('second')).toMatchObject({ error: 409 });
    expect(await service.stored()).toMatchObject({ name: 'first' });
    await service.close();
  });
});
