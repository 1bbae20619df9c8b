import { describe, expect, test, vi } from 'vitest';
import { newToken } from '../functions/shared/access-tokens/token.ts';
import { grantedOperations } from '../infra/operations.ts';
import { tableId, tableNames } from '../infra/table-keys.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { contractBody } from './support/contract.ts';
import { type Failure, type Plan, startFailureProxy } from './support/dynamodb-proxy.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';

/** Maximum milliseconds until a response: less than the function's timeout, which is less than the gateway's. */
const RESPONSE_WITHIN_MS = 8000;
const TIMEOUT_MS = 10_000;
const ALWAYS = Number.POSITIVE_INFINITY;
/** The tests of a suite share a service, so they run one after the other. The suites run concurrently. */
const IN_ORDER = { concurrent: false };

const READ_TOKEN = `GetItem ${tableId('accessTokens')}`;

/** The lines of all requests. */
const log: { extendedRequestId?: string }[] = [];
for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation((line) => log.push(line));

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
  const written = tableNames.filter((name) => name !== 'accessTokens').map(tableId);
  return Promise.all(written.map(async (table) => ({ table, items: await items(table) })));
}

/** The operations whose requests are safe to repeat, each with the stored items before and after its sample event. */
const operations = await Promise.all(
  grantedOperations()
    .filter(({ operationId }) => operationId === 'createPlant')
    .map(async (operation) => {
      const engine = await startEngine();
      const handler = await importHandler(operation.folder, engine.endpoint);
      const before = await itemsOf(engine);
      await handler(sampleEvent(operation.folder), contextWith());
      const after = await itemsOf(engine);
      await engine.close();
      return { ...operation, before, after };
    }),
);
type Operation = (typeof operations)[number];

/** An expiry that no test reaches, in seconds since 1970. */
const FAR_FUTURE = 2 ** 32;

let started: Promise<unknown> = Promise.resolve();

/** Starts operations one after the other, because they read their environment when they are imported. */
function startWithFailures(operation: Operation, initPlan?: Plan) {
  const service = started.then(() => startNow(operation, initPlan));
  started = service.catch(() => {});
  return service;
}

/** Imports an operation with its own database. Calls fail as planned during init. */
async function startNow({ folder, before }: Operation, initPlan?: Plan) {
  const engine = await startEngine();
  const proxy = await startFailureProxy(engine.endpoint);
  proxy.plan(initPlan);
  const handler = await importHandler(folder, proxy.endpoint);
  let token = '';
  const service = {
    /** The lines of the requests since the last reset. */
    lines: () => log.filter(({ extendedRequestId }) => extendedRequestId === token),
    /** Ends all failures. */
    repairDatabase: () => proxy.plan(),
    items: () => itemsOf(engine),
    /** Starts a test: restores the items, plans the failure of the next calls, and uses a new token, which is not cached. */
    async reset(plan?: Plan) {
      proxy.plan();
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
      const requestContext = { ...event.requestContext, extendedRequestId: token };
      const headers = { ...event.headers, Authorization: `Bearer ${token}` };
      const start = performance.now();
      const response = await handler({ ...event, requestContext, headers }, contextWith(TIMEOUT_MS));
      const body = contractBody(response, event);
      expect(performance.now() - start).toBeLessThan(RESPONSE_WITHIN_MS);
      return body;
    },
    async close() {
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
  databaseCallsOf(operation).flatMap((call) =>
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
        expect(service.lines()).toHaveLength(1);
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
