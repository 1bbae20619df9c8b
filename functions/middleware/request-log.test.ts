import { setTimeout as sleep } from 'node:timers/promises';
import middy from '@middy/core';
import { afterEach, expect, test, vi } from 'vitest';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { requestLog } from './request-log.ts';

afterEach(() => void vi.restoreAllMocks());

/** Runs a handler, or one that throws this error. Returns the logged lines by level. */
async function logged(handler: (() => unknown) | Error, event = eventWith()) {
  const info = vi.spyOn(console, 'info').mockReset();
  const error = vi.spyOn(console, 'error').mockReset();
  await middy()
    .use(requestLog())
    .use(errorResponse())
    .before(({ event }) => void Object.assign(event, { tokenName: 'ci' }))
    .handler(async () => (handler instanceof Error ? Promise.reject(handler) : handler()))(event, contextWith());
  return { info: info.mock.calls.flat(), error: error.mock.calls.flat() };
}

const succeed = () => ({ statusCode: 200 });

const LINE = {
  operation: 'POST /plants',
  version: '7',
  extendedRequestId: eventWith().requestContext.extendedRequestId,
  tokenName: 'ci',
  durationMs: expect.any(Number),
};

const stack = expect.stringContaining('request-log.test.ts');
const innermost = { name: 'TypeError', message: 'x', stack, cause: undefined };
const cause = new Error('inner', { cause: new TypeError('x') });
const loggedCause = { name: 'Error', message: 'inner', stack, cause: innermost };
const errorWith = (error: ErrorNumber, cause?: unknown) => new PlantStoreError(error, 'outer', { cause });
const fault = (cause: unknown) => ({ name: 'PlantStoreError', message: 'outer', stack, cause });

test.each<['info' | 'error', string, (() => unknown) | Error, object]>([
  ['info', 'a success', succeed, { outcome: 'succeeded' }],
  ['info', 'a client error', errorWith(409), { outcome: 'rejected', error: 409 }],
  ['info', 'throttling', errorWith(429, cause), { outcome: 'rejected', error: 429, fault: fault(loggedCause) }],
  ['error', 'a failure', errorWith(503, cause), { outcome: 'failed', error: 503, fault: fault(loggedCause) }],
  ['error', 'a text as a cause', errorWith(503, 'x'), { outcome: 'failed', error: 503, fault: fault('x') }],
  // An object can contain a secret.
  [
    'error',
    'an object as a cause, which it leaves out',
    errorWith(503, { token: 'x' }),
    { outcome: 'failed', error: 503, fault: fault(undefined) },
  ],
  ['error', 'an unexpected error itself', new TypeError('x'), { outcome: 'failed', error: 500, fault: innermost }],
])('logs a line at the level %s for %s', async (level, _, handler, line) => {
  expect(await logged(handler)).toEqual({ info: [], error: [], [level]: [{ ...LINE, ...line }] });
});

test('logs at most 10,000 characters, and an ellipsis, of the message and the stack of an error, and of the resource', async () => {
  const { error } = await logged(new Error('x'.repeat(20_000)), eventWith({ resource: 'x'.repeat(20_000) }));
  const [{ fault, operation }] = error;
  expect([fault.message, fault.stack, operation].map(({ length }) => length)).toEqual([10_001, 10_001, 10_001]);
});

test('logs JSON even if the causes are circular', async () => {
  const circular = new Error('circular');
  circular.cause = circular;
  const { error } = await logged(circular);
  // Otherwise the test runner's report would never end.
  circular.cause = undefined;
  expect(JSON.stringify(error).match(/"message":"circular"/g)).toHaveLength(5);
});

test('logs the duration of the request in ms', async () => {
  const [{ durationMs }] = (await logged(() => sleep(50))).info;
  // A timer can be a millisecond early, and late on a busy machine.
  expect(durationMs).toBeGreaterThan(40);
  expect(durationMs).toBeLessThan(20_000);
});
