import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from './support/closed-at-end.ts';
import { contractBody } from './support/contract-body.ts';
import { type Failure, startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent } from './support/event.ts';

/* Tests the function while its calls to the database fail. A repeated creation changes nothing. */

/** No attempt ends because it is silent, which would depend on the speed of the machine. */
vi.mock('../functions/time-limits.ts', async (original) => {
  const limits = await original<typeof import('../functions/time-limits.ts')>();
  return { ...limits, ATTEMPT_SILENCE_MS: 60_000 };
});

const engine = closedAtEnd(await startEngine());
const proxy = closedAtEnd(await startFailureProxy(engine.endpoint));
const READ = `GetItem ${engine.accessTokensTable}`;
const WRITE = `PutItem ${engine.plantsTable}`;
const ALWAYS = Number.POSITIVE_INFINITY;
const countPlants = async () => (await engine.items(engine.plantsTable)).length;

const log: unknown[] = [];
for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation((line) => log.push(line));
// Without a wait between two attempts.
vi.spyOn(Math, 'random').mockReturnValue(0);

/** Invokes the function with the sample event. Returns the response's body. */
let send: (remainingMs?: number) => Promise<Record<string, unknown>>;
async function startFunction() {
  const handler = await importHandler(proxy.endpoint);
  send = async (remainingMs = 60_000) => {
    const context = contextWith(remainingMs);
    const response = await handler(sampleEvent('create-plant'), context);
    expect(context.getRemainingTimeInMillis()).toBeGreaterThan(0);
    return contractBody(response);
  };
}
beforeEach(async () => {
  proxy.plan();
  await engine.clear(engine.plantsTable);
  await startFunction();
  log.length = 0;
});

// A write can fail before or after DynamoDB has carried it out.
test.each<[string, Failure, boolean, number]>([
  [READ, 'hangs', false, 504],
  [READ, 'responds with 500', false, 503],
  [WRITE, 'hangs', true, 504],
  [WRITE, 'throttles', false, 429],
  [WRITE, 'responds with 500', true, 503],
])(
  'if each %s %s (carried out: %s), the response is error %i, and a repetition succeeds',
  async (call, failure, applied, error) => {
    proxy.plan({ call, failure, applied, times: ALWAYS });
    const message = expect.stringMatching(/ Try again( a little later)?\.$/);
    // The reserve is 4 s, so the database has 3 s in which it hangs.
    expect(await send(failure === 'hangs' ? 7000 : 60_000)).toMatchObject({ error, message });
    expect(await countPlants()).toBe(applied ? 1 : 0);
    expect(log).toMatchObject([{ error }]);
    proxy.plan();
    expect(await send()).not.toHaveProperty('error');
    expect(await countPlants()).toBe(1);
  },
);

test('if one write fails after it was carried out, the response is that of a success', async () => {
  proxy.plan({ call: WRITE, failure: 'responds with 500', applied: true, times: 1 });
  expect(await send()).not.toHaveProperty('error');
  expect(await countPlants()).toBe(1);
});

test.each<Failure>(['hangs', 'responds with 500'])('starts although the database %s', async (failure) => {
  proxy.plan({ call: READ, failure, applied: false, times: ALWAYS });
  await startFunction();
  proxy.plan();
  expect(await send()).not.toHaveProperty('error');
});
