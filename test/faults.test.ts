import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { readOperations } from '../contract/operations.ts';
import { deploy, type LogLine } from '../local/lambda.ts';
import { functionBehind, readTemplate } from '../local/template.ts';
import { type ApiResponse, contractBody } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { errorOfSample, nameOfRepeat, namesBefore, sampleEvent } from './support/event.ts';
import { type Fault, type Plan, startFaultProxy } from './support/fault-proxy.ts';
import { databaseCallsOf } from './support/permissions.ts';

/** The longest time until a response, faults or not: below the function's timeout, which is below the gateway's. */
const RESPONSE_WITHIN_MS = 8000;
const ALWAYS = Number.POSITIVE_INFINITY;

const assembly = inject('assembly');
const template = readTemplate(assembly);
const { AccessTokensTableName = '', PlantsTableName } = template.outputs;
const READ_TOKEN = `GetItem ${AccessTokensTableName}`;

/** The error number if a fault lasts. */
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

/** The items of the tables that operations write, by the table's name. */
type Items = Awaited<ReturnType<typeof itemsOf>>;
async function itemsOf({ client }: Engine) {
  const names = template.tables.map(({ TableName }) => String(TableName));
  const written = names.filter((name) => name !== AccessTokensTableName);
  const scans = written.map((TableName) => client.send(new ScanCommand({ TableName, ConsistentRead: true })));
  return (await Promise.all(scans)).map(({ Items = [] }, at) => ({ TableName: String(written[at]), Items }));
}

/** The operations, each with what is stored before its sample event and after it. */
const operations = readOperations().map((operation) => ({
  ...operation,
  functionName: functionBehind(template, operation.method, operation.path).name,
  before: [] as Items,
  after: [] as Items,
}));
type Operation = (typeof operations)[number];
beforeAll(async () => {
  for (const operation of operations) {
    const engine = await startEngine();
    const deployment = await deploy(template, engine, () => {});
    for (const name of namesBefore(operation.folder)) await deployment.invoke(sampleEvent(name));
    operation.before = await itemsOf(engine);
    await deployment.invoke(sampleEvent(operation.folder));
    operation.after = await itemsOf(engine);
    await deployment.close();
    await engine.close();
  }
});

/** An operation's deployed bundle on a database of its own, in which calls go wrong as planned, from a moment on. */
async function serviceWith(
  { functionName, folder, before }: Operation,
  plans: Plan[],
  from: 'init' | 'event' = 'event',
) {
  const engine = await startEngine();
  for (const { TableName, Items } of before) {
    for (const Item of Items) await engine.client.send(new PutItemCommand({ TableName, Item }));
  }
  const proxy = await startFaultProxy(engine.endpoint);
  if (from === 'init') proxy.plan(...plans);
  const lines: LogLine[] = [];
  const functions = template.functions.filter(({ name }) => name === functionName);
  const deployment = await deploy({ ...template, functions }, proxy, (line) => lines.push(line));
  if (from === 'event') proxy.plan(...plans);
  return {
    lines,
    /** Nothing goes wrong any more. */
    mend: () => proxy.plan(),
    closeDatabase: proxy.close,
    items: () => itemsOf(engine),
    /** Invokes the function with a sample event. Returns the body of the response. */
    async send(name = folder) {
      const start = performance.now();
      const body = contractBody((await deployment.invoke(sampleEvent(name))) as ApiResponse, sampleEvent(name));
      expect(performance.now() - start).toBeLessThan(RESPONSE_WITHIN_MS);
      return body;
    },
    async [Symbol.asyncDispose]() {
      await deployment.close();
      proxy.close();
      await engine.close();
    },
  };
}

/** Where a fault may occur: at each call that an operation makes; at a write, before or after it is done. */
const places = operations.flatMap((operation) =>
  databaseCallsOf(operation.functionName, assembly).flatMap((call) =>
    (/^(Get|Query|Scan|BatchGet)/.test(call) ? [false] : [false, true]).map((applied) => ({
      operation,
      operationId: operation.operationId,
      call,
      applied,
      when: applied ? 'after it is done' : 'before it is done',
      // What is done already is a repeat for the next attempt.
      next: applied ? nameOfRepeat(operation.folder) : operation.folder,
    })),
  ),
);

describe.each(places)('$operationId, its call $call, $when', { concurrent: true }, (place) => {
  const { operation, call, applied, next } = place;

  test.for(rows)('a database that %s is an error %i, and a repeat completes it', async ([fault, error]) => {
    await using service = await serviceWith(operation, [{ call, fault, applied, times: ALWAYS }]);
    const message = expect.stringMatching(/[Rr]epeating the request .*is safe\.$/);
    expect(await service.send()).toMatchObject({ error, message });
    expect(await service.items()).toEqual(applied ? operation.after : operation.before);
    expect(service.lines).toHaveLength(1);
    service.mend();
    expect((await service.send())['error']).toBe(errorOfSample(next));
    expect(await service.items()).toEqual(operation.after);
  });

  // A database that drips uses up all the time; the others leave time for another attempt.
  test.for(rows.filter(([fault]) => fault !== 'drips'))('a database that %s once is no error', async ([fault]) => {
    await using service = await serviceWith(operation, [{ call, fault, applied, times: 1 }]);
    expect((await service.send())['error']).toBe(errorOfSample(next));
    expect(await service.items()).toEqual(operation.after);
  });
});

describe.each(operations)('$operationId, whatever happens', { concurrent: true }, (operation) => {
  test('a database that is not there is a 503', async () => {
    await using service = await serviceWith(operation, []);
    service.closeDatabase();
    expect(await service.send()).toMatchObject({ error: 503 });
  });

  test.for(rows)('a database that %s during init fails no init', async ([fault]) => {
    const plan = { call: READ_TOKEN, fault, times: ALWAYS, applied: false };
    await using service = await serviceWith(operation, [plan], 'init');
    service.mend();
    expect(await service.send()).not.toHaveProperty('error');
  });

  test('a failed first request leaves nothing behind that breaks the next', async () => {
    const lost: Plan = { call: READ_TOKEN, fault: 'resets the connection', times: ALWAYS, applied: false };
    await using service = await serviceWith(operation, [lost]);
    expect(await service.send()).toMatchObject({ error: 503 });
    expect(await service.send()).toMatchObject({ error: 503 });
    service.mend();
    expect(await service.send()).not.toHaveProperty('error');
  });

  test('a database that hangs twice at each call is no error', async () => {
    const calls = databaseCallsOf(operation.functionName, assembly);
    const plans = calls.map((call): Plan => ({ call, fault: 'hangs', times: 2, applied: false }));
    await using service = await serviceWith(operation, plans);
    expect(await service.send()).not.toHaveProperty('error');
  });
});

test('a plant put in place of a lost response is a conflict for any other', async () => {
  const createPlant = operations.find(({ operationId }) => operationId === 'createPlant') as Operation;
  const call = `PutItem ${PlantsTableName}`;
  const lost: Plan = { call, fault: 'resets the connection', times: 1, applied: true };
  await using service = await serviceWith(createPlant, [lost]);
  expect(await service.send()).not.toHaveProperty('error');
  expect(await service.send('error-409-id-in-use')).toMatchObject({ error: 409 });
  expect(await service.items()).toEqual(createPlant.after);
});
