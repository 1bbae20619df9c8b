import { describe, expect, test, vi } from 'vitest';
import { FUNCTION_TIMEOUT_MS, RESPONSE_MS } from '../functions/time-limits.ts';
import { newToken } from '../functions/tokens/token.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { contractBody } from './support/contract-body.ts';
import { type Failure, type Plan, startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';
import { createPlant } from './support/stack.ts';

/* Tests createPlant while its calls to the database fail. A repeated creation changes nothing. */

/** The tests of a suite share a service, so they run one after the other. The suites run concurrently. */
const IN_ORDER = { concurrent: false };

/** The lines of all requests. */
const log: { extendedRequestId?: string }[] = [];
for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation((line) => log.push(line));

/** Each failure, with the error number of the response if every attempt has it. */
const rows: [Failure, number][] = [
  ['hangs', 503],
  ['sends a byte at a time', 504],
  ['responds with 500', 503],
  ['throttles', 429],
];

/** An expiry that no test reaches, in seconds since 1970. */
const FAR_FUTURE = 2 ** 32;

let started: Promise<unknown> = Promise.resolve();

/** Starts services one after the other, because they read their environment when they are imported. */
function startWithFailures(initPlan?: Plan) {
  const service = started.then(() => startNow(initPlan));
  started = service.catch(() => {});
  return service;
}

/** Imports createPlant with its own database. Calls fail as planned during init. */
async function startNow(initPlan?: Plan) {
  const engine = await startEngine();
  const proxy = await startFailureProxy(engine.endpoint);
  proxy.plan(initPlan);
  const handler = await importHandler(proxy.endpoint);
  let token = '';
  const service = {
    /** The lines of the requests since the last reset. */
    lines: () => log.filter(({ extendedRequestId }) => extendedRequestId === token),
    /** Ends all failures. */
    repairDatabase: () => proxy.plan(),
    plants: async () => (await engine.items(engine.plantsTable)).length,
    /**
     * Starts a test: deletes the plants, plans the failure of the next calls, and uses a new token, which is not
     * cached.
     */
    async reset(plan?: Plan) {
      proxy.plan();
      await engine.clear(engine.plantsTable);
      ({ token } = newToken('', 0, 0));
      await engine.putToken(token, 'test', FAR_FUTURE);
      proxy.plan(plan);
    },
    /** Invokes the function with the sample event. Returns the body of the response. */
    async send() {
      const event = sampleEvent('create-plant');
      const requestContext = { ...event.requestContext, extendedRequestId: token };
      const headers = { ...event.headers, Authorization: `Bearer ${token}` };
      const start = performance.now();
      const response = await handler({ ...event, requestContext, headers }, contextWith(FUNCTION_TIMEOUT_MS));
      expect(performance.now() - start).toBeLessThan(RESPONSE_MS);
      return contractBody(response);
    },
    async close() {
      proxy.close();
      await engine.close();
    },
  };
  await service.reset();
  return service;
}

/** The calls that can fail. A write can fail before or after DynamoDB has carried it out. */
const failingCalls = databaseCallsOf(createPlant).flatMap((call) => [
  { call, applied: false, when: 'before it is carried out' },
  ...(call.startsWith('Put') ? [{ call, applied: true, when: 'after it is carried out' }] : []),
]);

describe.each(failingCalls)('while each $call fails $when,', { concurrent: true }, async ({ call, applied }) => {
  const service = closedAtEnd(await startWithFailures());

  test.for(rows)(
    'returns error $1 if the database $0, and then responds to a repeated request',
    IN_ORDER,
    async ([failure, error]) => {
      await service.reset({ call, failure, applied, times: Number.POSITIVE_INFINITY });
      const message = expect.stringMatching(/ Try again( a little later)?\.$/);
      expect(await service.send()).toMatchObject({ error, message });
      expect(await service.plants()).toBe(applied ? 1 : 0);
      expect(service.lines()).toHaveLength(1);
      service.repairDatabase();
      expect(await service.send()).not.toHaveProperty('error');
      expect(await service.plants()).toBe(1);
    },
  );

  // A database that sends a byte at a time leaves no time for another attempt.
  test.for(rows.filter(([failure]) => failure !== 'sends a byte at a time'))(
    'responds as without a failure if the database $0 only once',
    IN_ORDER,
    async ([failure]) => {
      await service.reset({ call, failure, applied, times: 1 });
      expect(await service.send()).not.toHaveProperty('error');
      expect(await service.plants()).toBe(1);
    },
  );
});

test.concurrent.for(rows)('starts although the database %s during init', async ([failure]) => {
  const call = 'GetItem AccessTokensTable';
  const service = await startWithFailures({ call, failure, times: Number.POSITIVE_INFINITY, applied: false });
  expect(await service.send()).not.toHaveProperty('error');
  await service.close();
});
