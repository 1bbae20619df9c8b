import { setTimeout as sleep } from 'node:timers/promises';
import middy from '@middy/core';
import { afterEach, expect, test, vi } from 'vitest';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { PlantStoreError } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { requestLog } from './request-log.ts';

afterEach(() => void vi.restoreAllMocks());

/** Runs a handler and returns the logged lines by level. */
async function logged(handler: () => unknown, event = eventWith()) {
  const info = vi.spyOn(console, 'info').mockReset();
  const error = vi.spyOn(console, 'error').mockReset();
  await middy()
    .use(requestLog())
    .use(errorResponse())
    .before(({ event }) => void Object.assign(event, { tokenName: 'ci' }))
    .handler(async () => handler())(event, contextWith());
  return { info: info.mock.calls.flat(), error: error.mock.calls.flat() };
}

const succeed = () => ({ statusCode: 200 });
const fail = (error: unknown) => () => {
  throw error;
};

const LINE = {
  operation: 'POST /plants',
  version: '7',
  extendedRequestId: eventWith().requestContext.extendedRequestId,
  tokenName: 'ci',
  durationMs: expect.any(Number),
};

test('logs a line at INFO for a successful request, and with the error number for a client error', async () => {
  expect(await logged(succeed)).toEqual({ info: [{ ...LINE, outcome: 'succeeded' }], error: [] });
  const rejected = { ...LINE, outcome: 'rejected', error: 409 };
  expect(await logged(fail(new PlantStoreError(409, 'no')))).toEqual({ info: [rejected], error: [] });
});

const stack = expect.stringContaining('request-log.test.ts');

test.each([
  [429, 'info', 'rejected'],
  [503, 'error', 'failed'],
  [504, 'error', 'failed'],
] as const)('logs error %i with its causes and their stacks, at the level %s', async (error, level, outcome) => {
  const cause = new TypeError('inner', { cause: new Error('innermost') });
  const innermost = { name: 'Error', message: 'innermost', stack, cause: undefined };
  const inner = { name: 'TypeError', message: 'inner', stack, cause: innermost };
  const fault = { name: 'PlantStoreError', message: 'outer', stack, cause: inner };
  const lines = await logged(fail(new PlantStoreError(error, 'outer', { cause })));
  expect(lines).toEqual({ info: [], error: [], [level]: [{ ...LINE, outcome, error, fault }] });
});

test('logs an unexpected error itself, with one stack, because the message of error 500 says nothing', async () => {
  const fault = { name: 'TypeError', message: 'unexpected', stack, cause: undefined };
  const { error } = await logged(fail(new TypeError('unexpected')));
  expect(error).toEqual([{ ...LINE, outcome: 'failed', error: 500, fault }]);
});

test.each([
  ['logs a string', 'inner', 'inner'],
  ['does not log an object, which can contain a secret,', { token: 'secret' }, undefined],
])('%s as a cause', async (_, thrown, loggedCause) => {
  const { error } = await logged(fail(new PlantStoreError(503, 'outer', { cause: thrown })));
  expect(error[0].fault.cause).toEqual(loggedCause);
});

test('logs at most 10,000 characters, and an ellipsis, of the message and the stack of an error', async () => {
  const [{ fault }] = (await logged(fail(new Error('x'.repeat(20_000))))).error;
  expect([fault.message.length, fault.stack.length]).toEqual([10_001, 10_001]);
});

test('logs at most 10,000 characters, and an ellipsis, of the method and the resource', async () => {
  const { info } = await logged(succeed, eventWith({ resource: 'x'.repeat(20_000) }));
  expect(info[0].operation).toHaveLength(10_001);
});

test('logs JSON even if the causes are circular', async () => {
  const circular = new Error('circular');
  circular.cause = circular;
  const { error } = await logged(fail(circular));
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
