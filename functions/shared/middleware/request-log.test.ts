import middy from '@middy/core';
import { afterEach, expect, test, vi } from 'vitest';
import { contextWith, eventWith } from '../../../test/support/event.ts';
import { PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';
import { errorResponse } from './error-response.ts';
import { requestLog } from './request-log.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const authenticated: Middleware = {
  before: ({ internal }) => {
    internal.tokenName = 'ci';
  },
};

/** The lines that are logged, by level, when the handler does this. */
async function logged(handler: () => unknown, event = eventWith()) {
  const info = vi.spyOn(console, 'info').mockReturnValue();
  const error = vi.spyOn(console, 'error').mockReturnValue();
  await middy()
    .use(requestLog('createPlant'))
    .use(errorResponse())
    .use(authenticated)
    .handler(async () => handler())(event, contextWith());
  return { info: info.mock.calls.flat(), error: error.mock.calls.flat() };
}

const succeed = () => ({ statusCode: 200 });
const fail = (error: unknown) => () => {
  throw error;
};

const LINE = {
  operation: 'createPlant',
  version: '7',
  extendedRequestId: eventWith().requestContext.extendedRequestId,
  tokenName: 'ci',
  durationMs: expect.any(Number),
};

test('logs a line at INFO for a request that succeeded', async () => {
  expect(await logged(succeed)).toEqual({ info: [{ ...LINE, outcome: 'succeeded' }], error: [] });
});

test('logs a line at INFO with the error number for a refused request', async () => {
  expect(await logged(fail(new PlantStoreError(409, 'no', { cause: new Error('inside') })))).toEqual({
    info: [{ ...LINE, outcome: 'refused', error: 409 }],
    error: [],
  });
});

test.each([500, 503, 504] as const)('logs a line at ERROR with the cause and its stack for a %i', async (error) => {
  const cause = new TypeError('inside', { cause: new Error('deeper') });
  const stack = expect.stringContaining('request-log.test.ts');
  const deeper = { name: 'Error', message: 'deeper', stack, cause: undefined };
  const inside = { name: 'TypeError', message: 'inside', stack, cause: deeper };
  const out = { name: 'PlantStoreError', message: 'out', stack, cause: inside };
  expect(await logged(fail(new PlantStoreError(error, 'out', { cause })))).toEqual({
    info: [],
    error: [{ ...LINE, outcome: 'failed', error, cause: out }],
  });
});

test.each([
  ['logs a text', 'inside', 'inside'],
  ['does not log anything else, which may hold a secret', { token: 'secret' }, undefined],
])('%s as a cause', async (_, thrown, shown) => {
  const { error } = await logged(fail(new PlantStoreError(500, 'out', { cause: thrown })));
  expect(error[0].cause.cause).toEqual(shown);
});

test('logs JSON even if the causes are a ring', async () => {
  const ring = new Error('ring');
  ring.cause = ring;
  const { error } = await logged(fail(ring));
  // The test runner's own report would follow a ring without end.
  ring.cause = undefined;
  expect(JSON.stringify(error).match(/"message":"ring"/g)).toHaveLength(4);
});

test('logs the duration of the request in ms', async () => {
  const { info } = await logged(() => new Promise((resolve) => setTimeout(resolve, 30, succeed())));
  expect(info[0].durationMs).toBeGreaterThan(25);
  expect(info[0].durationMs).toBeLessThan(5000);
});

test('logs a request that no gateway made without the id of a gateway', async () => {
  const { requestContext: _, ...event } = eventWith();
  const { info } = await logged(succeed, JSON.parse(JSON.stringify(event)));
  expect(info).toEqual([{ ...LINE, outcome: 'succeeded', extendedRequestId: undefined }]);
});
