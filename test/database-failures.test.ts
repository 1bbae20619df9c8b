import { describe, expect, test } from 'vitest';
import { newToken } from '../functions/shared/access-tokens/token.ts';
import { readOperations } from '../infra/contract.ts';
import { startServedFunctions } from '../tools/local/lambda.ts';
import type { LogLine } from '../tools/local/log.ts';
import { functionOfRoute, readTemplate } from '../tools/local/template.ts';
import { sharedAssembly } from './support/assembly.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { type ApiResponse, contractBody } from './support/contract.ts';
import { type Failure, type Plan, startFailureProxy } from './support/dynamodb-proxy.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { sampleEvent } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';

/** Maximum milliseconds until a response: less than the function's timeout, which is less than the gateway's. */
const RESPONSE_WITHIN_MS = 8000;
const ALWAYS = Number.POSITIVE_INFINITY;
/** The tests of a suite share a service, so they run one after the other. The suites run concurrently. */
const IN_ORDER = { concurrent: false };

const assembly = await sharedAssembly();
const template = readTemplate(assembly);
const { AccessTokensTableName = '' } = template.outputs;
const READ_TOKEN = `GetItem ${AccessTokensTableName}`;

/** The error number of the response if every attempt has this failure. */
const errorByFailure: Record<Exclude<Failure, 'denies access'>, number> = {
  hangs: 503,
  'sends a byte at a time': 504,
  'responds with 500': 503,
  throttles: 429,
};
const rows = Object.entries(errorByFailure) as [Failure, number][];

/** The items of each table that operations write. */
async function itemsOf({ items }: Engine) {
  const names = template.tables.map(({ TableName }) => String(TableName));
  const written = names.filter((name) => name !== AccessTokensTableName);
  return Promise.all(written.map(async (table) => ({ table, items: await items(table) })));
}

/** The operations whose requests are safe to repeat, each with the stored items before and after its sample event. */
const operations = await Promise.all(
  readOperations()
    .filter(({ operationId }) => operationId === 'createPlant')
    .map(async ({ operationId, method, path, folder }) => {
      const engine = await startEngine(template);
      const running = await startServedFunctions(template, engine, () => {});
      const before = await itemsOf(engine);
      await running.invoke(sampleEvent(folder));
      const after = await itemsOf(engine);
      await running.close();
      await engine.close();
      return { operationId, folder, functionName: functionOfRoute(template, method, path).name, before, after };
    }),
);
type Operation = (typeof operations)[number];

/** An expiry that no test reaches, in seconds since 1970. */
const FAR_FUTURE = 2 ** 32;

/** Starts an operation's bundle with its own database. Calls fail as planned during init. */
async function startWithFailures({ functionName, folder, before }: Operation, initPlan?: Plan) {
  const engine = await startEngine(template);
  const proxy = await startFailureProxy(engine.endpoint);
  proxy.plan(initPlan);
  const lines: LogLine[] = [];
  const functions = template.functions.filter(({ name }) => name === functionName);
  const running = await startServedFunctions({ ...template, functions }, proxy, (line) => lines.push(line));
  let token = '';
  const service = {
    lines,
    /** Ends all failures. */
    repairDatabase: () => proxy.plan(),
    items: () => itemsOf(engine),
    /** Starts a test: restores the items, plans the failure of the next calls, and uses a new token, which is not cached. */
    async reset(plan?: Plan) {
      proxy.plan();
      lines.length = 0;
      for (const { table, items } of before) {
        await engine.clear(table);
        for (const item of items) await engine.put(table, item);
      }
      ({ token } = newToken('', 0, 0));
      await engine.putToken(token, 'test', FAR_FUTURE);
      proxy.plan(plan);
    },
    /** Invokes the function with the operation's sample event. Returns the body of the response. */
    async send() {
      const event = sampleEvent(folder);
      const headers = { ...event.headers, Authorization: `Bearer ${token}` };
      const start = performance.now();
      const body = contractBody((await running.invoke({ ...event, headers })) as ApiResponse, event);
      expect(performance.now() - start).toBeLessThan(RESPONSE_WITHIN_MS);
      return body;
    },
    async close() {
      await running.close();
      proxy.close();
      await engine.close();
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
  await service.reset();
  return service;
}

/** The calls that can fail: each of an operation. A write can fail before or after DynamoDB has carried it out. */
const failingCalls = operations.flatMap((operation) =>
  databaseCallsOf(operation.functionName, assembly).flatMap((call) =>
    (/^(Get|Query|Scan)/.test(call) ? [false] : [false, true]).map((applied) => ({
      operation,
      operationId: operation.operationId,
      call,
      applied,
      when: applied ? 'after it is carried out' : 'before it is carried out',
    })),
  ),
);

describe.each(failingCalls)(
  '$operationId, while each $call fails $when,',
  { concurrent: true },
  async (failingCall) => {
    const { operation, call, applied } = failingCall;
    const service = closedAtEnd(await startWithFailures(operation));

    test.for(rows)(
      'returns error $1 if the database $0, and then responds to a repeated request',
      IN_ORDER,
      async ([failure, error]) => {
        await service.reset({ call, failure, applied, times: ALWAYS });
        const message = expect.stringMatching(/[Rr]epeating the request .*is safe\.$/);
        expect(await service.send()).toMatchObject({ error, message });
        expect(await service.items()).toEqual(applied ? operation.after : operation.before);
        expect(service.lines).toHaveLength(1);
        service.repairDatabase();
        expect(await service.send()).not.toHaveProperty('error');
        expect(await service.items()).toEqual(operation.after);
      },
    );
  },
);

describe.each(failingCalls)('$operationId, when one $call fails $when,', { concurrent: true }, async (failingCall) => {
  const { operation, call, applied } = failingCall;
  const service = closedAtEnd(await startWithFailures(operation));

  // A database that sends a byte at a time leaves no time for another attempt.
  test.for(rows.filter(([failure]) => failure !== 'sends a byte at a time'))(
    'responds as without a failure if the database $0',
    IN_ORDER,
    async ([failure]) => {
      await service.reset({ call, failure, applied, times: 1 });
      expect(await service.send()).not.toHaveProperty('error');
      expect(await service.items()).toEqual(operation.after);
    },
  );
});

describe.each(operations)('$operationId', { concurrent: true }, (operation) => {
  test.for(rows)('starts although the database %s during init', async ([failure]) => {
    const plan = { call: READ_TOKEN, failure, times: ALWAYS, applied: false };
    await using service = await startWithFailures(operation, plan);
    expect(await service.send()).not.toHaveProperty('error');
  });
});
