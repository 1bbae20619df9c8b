import { expect, test, vi } from 'vitest';
import { closedAtEnd } from './support/closed-at-end.ts';
import { contractBody } from './support/contract-body.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, eventWith, importHandler } from './support/event.ts';

/** No attempt ends because it is idle, which would depend on the speed of the machine. */
vi.mock('../functions/time-limits.ts', async (original) => {
  const limits = await original<typeof import('../functions/time-limits.ts')>();
  return { ...limits, ATTEMPT_IDLE_TIMEOUT_MS: 60_000 };
});

const engine = closedAtEnd(await startEngine());
const proxy = closedAtEnd(await startFailureProxy(engine.endpoint));

test.each([
  [`GetItem ${engine.accessTokensTable}`, 0],
  [`PutItem ${engine.plantsTable}`, 1],
])('if each %s hangs, also in init, the response is error 504, and a repetition succeeds', async (call, stored) => {
  await engine.clear(engine.plantsTable);
  proxy.plan({ call, failure: 'hangs' });
  const handler = await importHandler(proxy.endpoint);
  // The reserve is 4 s, so the database has 3 s in which it hangs.
  const context = contextWith(7000);
  expect(contractBody(await handler(eventWith(), context))).toHaveProperty('error', 504);
  expect(context.getRemainingTimeInMillis()).toBeGreaterThan(0);
  expect(await engine.items(engine.plantsTable)).toHaveLength(stored);
  proxy.plan();
  expect(contractBody(await handler(eventWith(), contextWith()))).not.toHaveProperty('error');
  expect(await engine.items(engine.plantsTable)).toHaveLength(1);
});
