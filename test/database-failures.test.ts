import { expect, test, vi } from 'vitest';
import { newToken } from '../functions/tokens/token.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { contractBody } from './support/contract-body.ts';
import { type Failure, type Plan, startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent } from './support/event.ts';

/* Tests the function while its calls to the database fail. A repeated creation changes nothing. */

/** No attempt ends because it is silent, which would depend on the speed of the machine. */
vi.mock('../functions/time-limits.ts', async (original) => {
  const limits = await original<typeof import('../functions/time-limits.ts')>();
  return { ...limits, ATTEMPT_SILENCE_MS: 60_000 };
});

/** The lines of all requests. */
const log: { extendedRequestId?: string }[] = [];
for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation((line) => log.push(line));

let started: Promise<unknown> = Promise.resolve();

/** Starts services one after the other, because they read their environment when they are imported. */
function startService(initPlan?: Plan) {
  const service = started.then(() => startNow(initPlan));
  started = service.catch(() => {});
  return service;
}

/** Imports the function with its own database. Calls fail as planned during init. */
async function startNow(initPlan?: Plan) {
  const engine = closedAtEnd(await startEngine());
  const proxy = closedAtEnd(await startFailureProxy(engine.endpoint));
  proxy.plan(initPlan);
  const handler = await importHandler(proxy.endpoint);
  const { token } = newToken('', 0, 0);
  await engine.putToken(token, 'test', 2 ** 32);
  return {
    /** Plans the failure of the next calls. Without a plan, no call fails. */
    plan: proxy.plan,
    plants: async () => (await engine.items(engine.plantsTable)).length,
    lines: () => log.filter(({ extendedRequestId }) => extendedRequestId === token).length,
    /** Invokes the function with the sample event, by default with 56 s for the database. Returns the response's body. */
    async send(remainingMs = 60_000) {
      const event = sampleEvent('create-plant');
      const requestContext = { ...event.requestContext, extendedRequestId: token };
      const headers = { ...event.headers, Authorization: `Bearer ${token}` };
      const context = contextWith(remainingMs);
      const response = await handler({ ...event, requestContext, headers }, context);
      expect(context.getRemainingTimeInMillis()).toBeGreaterThan(0);
      return contractBody(response);
    },
  };
}

/** The calls that can fail. A write can fail before or after DynamoDB has carried it out. */
const CALLS: Pick<Plan, 'call' | 'applied'>[] = [
  { call: 'GetItem AccessTokensTable', applied: false },
  { call: 'PutItem PlantsTable', applied: false },
  { call: 'PutItem PlantsTable', applied: true },
];

/** Each failure, with the error number of the response if every attempt has it. */
const FAILURES: [Failure, number][] = [
  ['hangs', 504],
  ['throttles', 429],
  ['responds with 500', 503],
];

const rows = FAILURES.flatMap(([failure, error]) => CALLS.map((call) => ({ ...call, failure, error })));

test.concurrent.for(rows)(
  'returns error $error if the database $failure for each $call (carried out: $applied), and then serves a repetition',
  async ({ call, applied, failure, error }) => {
    const service = await startService();
    service.plan({ call, failure, applied, times: Number.POSITIVE_INFINITY });
    const message = expect.stringMatching(/ Try again( a little later)?\.$/);
    // 3 s for the database, after which it hangs too long.
    expect(await service.send(failure === 'hangs' ? 7000 : 60_000)).toMatchObject({ error, message });
    expect(await service.plants()).toBe(applied ? 1 : 0);
    expect(service.lines()).toBe(1);
    service.plan();
    expect(await service.send()).not.toHaveProperty('error');
    expect(await service.plants()).toBe(1);
  },
);

// A database that hangs leaves no time for another attempt.
test.concurrent.for(rows.filter(({ failure }) => failure !== 'hangs'))(
  'responds as without a failure if the database $failure for one $call (carried out: $applied)',
  async ({ call, applied, failure }) => {
    const service = await startService();
    service.plan({ call, failure, applied, times: 1 });
    expect(await service.send()).not.toHaveProperty('error');
    expect(await service.plants()).toBe(1);
  },
);

test.concurrent.for(FAILURES)('starts although the database $0 during init', async ([failure]) => {
  const call = 'GetItem AccessTokensTable';
  const service = await startService({ call, failure, times: Number.POSITIVE_INFINITY, applied: false });
  service.plan();
  expect(await service.send()).not.toHaveProperty('error');
});
