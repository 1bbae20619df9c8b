import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { readOperations } from '../contract/operations.ts';
import { deploy } from '../local/lambda.ts';
import type { LogLine } from '../local/log.ts';
import { functionOfRoute, readTemplate } from '../local/template.ts';
import { type ApiResponse, contractBody } from './support/contract.ts';
import { type Fault, type Plan, startFaultProxy } from './support/dynamodb-proxy.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { errorOfSample, nameOfRepeat, namesBefore, sampleEvent } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';

/** Maximum milliseconds until a response: less than the function's timeout, which is less than the gateway's. */
const RESPONSE_WITHIN_MS = 8000;
const ALWAYS = Number.POSITIVE_INFINITY;

const assembly = inject('assembly');
const template = readTemplate(assembly);
const { AccessTokensTableName = '', PlantsTableName } = template.outputs;
const READ_TOKEN = `GetItem ${AccessTokensTableName}`;

/** The error number of the response if every attempt has this fault. */
const errorByFault: Record<Exclude<Fault, 'denies access'>, number> = {
  hangs: 503,
  'stalls in the middle of its response': 503,
  'sends a byte at a time': 504,
  'resets the connection': 503,
  'responds with 500': 503,
  throttles: 429,
  'responds with 503 in HTML': 503,
  'responds with 200 in HTML': 503,
  'responds with half a JSON document': 503,
  'responds with an empty body': 503,
};
const rows = Object.entries(errorByFault) as [Fault, number][];

/** The items of each table that operations write. */
type Items = Awaited<ReturnType<typeof itemsOf>>;
async function itemsOf({ client }: Engine) {
  const names = template.tables.map(({ TableName }) => String(TableName));
  const written = names.filter((name) => name !== AccessTokensTableName);
  const scans = written.map((TableName) => client.send(new ScanCommand({ TableName, ConsistentRead: true })));
  return (await Promise.all(scans)).map(({ Items = [] }, at) => ({ TableName: String(written[at]), Items }));
}

/** The operations, each with the stored items before and after its sample event. */
const operations = readOperations().map((operation) => ({
  ...operation,
  functionName: functionOfRoute(template, operation.method, operation.path).name,
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

/** Deploys an operation's bundle with its own database. Calls fail as planned, also during init if `from` is 'init'. */
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
    /** Ends all faults. */
    repairDatabase: () => proxy.plan(),
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

/** The calls that can fail: each of an operation. A write can fail before or after DynamoDB has carried it out. */
const failingCalls = operations.flatMap((operation) =>
  databaseCallsOf(operation.functionName, assembly).flatMap((call) =>
    (/^(Get|Query|Scan|BatchGet)/.test(call) ? [false] : [false, true]).map((applied) => ({
      operation,
      operationId: operation.operationId,
      call,
      applied,
      when: applied ? 'after it is carried out' : 'before it is carried out',
      // If the write was carried out, the next attempt repeats it.
      next: applied ? nameOfRepeat(operation.folder) : operation.folder,
    })),
  ),
);

describe.each(failingCalls)('$operationId, call $call, $when', { concurrent: true }, (failingCall) => {
  const { operation, call, applied, next } = failingCall;

  test.for(rows)('error if the database %s (%i), and a repeated request succeeds', async ([fault, error]) => {
    await using service = await serviceWith(operation, [{ call, fault, applied, times: ALWAYS }]);
    const message = expect.stringMatching(/[Rr]epeating the request .*is safe\.$/);
    expect(await service.send()).toMatchObject({ error, message });
    expect(await service.items()).toEqual(applied ? operation.after : operation.before);
    expect(service.lines).toHaveLength(1);
    service.repairDatabase();
    expect((await service.send())['error']).toBe(errorOfSample(next));
    expect(await service.items()).toEqual(operation.after);
  });

  // A database that sends a byte at a time leaves no time for another attempt.
  test.for(rows.filter(([fault]) => fault !== 'sends a byte at a time'))(
    'a database that %s once: no error',
    async ([fault]) => {
      await using service = await serviceWith(operation, [{ call, fault, applied, times: 1 }]);
      expect((await service.send())['error']).toBe(errorOfSample(next));
      expect(await service.items()).toEqual(operation.after);
    },
  );
});

describe.each(operations)('$operationId', { concurrent: true }, (operation) => {
  test('returns 503 if the database is not reachable', async () => {
    await using service = await serviceWith(operation, []);
    service.closeDatabase();
    expect(await service.send()).toMatchObject({ error: 503 });
  });

  test.for(rows)('starts although the database %s during init', async ([fault]) => {
    const plan = { call: READ_TOKEN, fault, times: ALWAYS, applied: false };
    await using service = await serviceWith(operation, [plan], 'init');
    service.repairDatabase();
    expect(await service.send()).not.toHaveProperty('error');
  });

  test('succeeds after the first requests failed', async () => {
    const lost: Plan = { call: READ_TOKEN, fault: 'resets the connection', times: ALWAYS, applied: false };
    await using service = await serviceWith(operation, [lost]);
    expect(await service.send()).toMatchObject({ error: 503 });
    expect(await service.send()).toMatchObject({ error: 503 });
    service.repairDatabase();
    expect(await service.send()).not.toHaveProperty('error');
  });

  test('succeeds if the database hangs twice at each call', async () => {
    const calls = databaseCallsOf(operation.functionName, assembly);
    const plans = calls.map((call): Plan => ({ call, fault: 'hangs', times: 2, applied: false }));
    await using service = await serviceWith(operation, plans);
    expect(await service.send()).not.toHaveProperty('error');
  });
});

test('error 409 for a different plant with the id of a write whose response was lost', async () => {
  const createPlant = operations.find(({ operationId }) => operationId === 'createPlant') as Operation;
  const call = `PutItem ${PlantsTableName}`;
  const lost: Plan = { call, fault: 'resets the connection', times: 1, applied: true };
  await using service = await serviceWith(createPlant, [lost]);
  expect(await service.send()).not.toHaveProperty('error');
  expect(await service.send('error-409-id-in-use')).toMatchObject({ error: 409 });
  expect(await service.items()).toEqual(createPlant.after);
});
