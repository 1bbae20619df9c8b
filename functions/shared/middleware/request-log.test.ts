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

/** What is logged, by level, when the handler does this. */
async function logged(handler: () => unknown, event = eventWith()) {
  const info = vi.spyOn(console, 'info').mockReturnValue();
  const error = vi.spyOn(console, 'error').mockReturnValue();
  await middy()
    .use(requestLog('createPlant'))
    .use(errorResponse())
    .use(authenticated)
    .handler(async () => handler())(event, contextWith());
  return { info: info.mock.calls, error: error.mock.calls };
}

const fail = (error: unknown) => () => {
  throw error;
};
const { extendedRequestId } = eventWith().requestContext;

test('a request that succeeded is one line at INFO', async () => {
  expect(await logged(() => ({ statusCode: 200 }))).toEqual({
    info: [
      [
        {
          operation: 'createPlant',
          version: '7',
          outcome: 'succeeded',
          extendedRequestId,
          tokenName: 'ci',
          durationMs: expect.any(Number),
        },
      ],
    ],
    error: [],
  });
});

test('a refused request is one line at INFO with its error number', async () => {
  expect(await logged(fail(new PlantStoreError(409, 'no', { cause: new Error('inside') })))).toEqual({
    info: [
      [
        {
          operation: 'createPlant',
          version: '7',
          outcome: 'refused',
          error: 409,
          extendedRequestId,
          tokenName: 'ci',
          durationMs: expect.any(Number),
        },
      ],
    ],
    error: [],
  });
});

test.each([500, 503, 504] as const)('a %i is one line at ERROR with the cause and its stack', async (error) => {
  const cause = new TypeError('inside', { cause: new Error('deeper') });
  expect(await logged(fail(new PlantStoreError(error, 'out', { cause })))).toEqual({
    info: [],
    error: [
      [
        {
          operation: 'createPlant',
          version: '7',
          outcome: 'failed',
          error,
          extendedRequestId,
          tokenName: 'ci',
          durationMs: expect.any(Number),
          cause: {
            name: 'PlantStoreError',
            message: 'out',
            stack: expect.stringContaining('request-log.test.ts'),
            cause: {
              name: 'TypeError',
              message: 'inside',
              stack: expect.stringContaining('request-log.test.ts'),
              cause: expect.objectContaining({ name: 'Error', message: 'deeper', cause: undefined }),
            },
          },
        },
      ],
    ],
  });
});

test.each([
  ['a text is logged', 'inside', 'inside'],
  ['anything else, which may hold a secret, is not', { token: 'secret' }, undefined],
])('a cause that is no Error: %s', async (_, thrown, shown) => {
  const { error } = await logged(fail(new PlantStoreError(500, 'out', { cause: thrown })));
  expect(error[0]?.[0].cause.cause).toEqual(shown);
});

test('the line is JSON even where the causes are a ring', async () => {
  const ring = new Error('ring');
  ring.cause = ring;
  const { error } = await logged(fail(ring));
  // The test runner's own report would follow a ring without end.
  ring.cause = undefined;
  expect(JSON.stringify(error).match(/"message":"ring"/g)).toHaveLength(4);
});

test('the duration is that of the request, in ms', async () => {
  const { info } = await logged(() => new Promise((resolve) => setTimeout(resolve, 30, { statusCode: 200 })));
  expect(info[0]?.[0].durationMs).toBeGreaterThan(25);
  expect(info[0]?.[0].durationMs).toBeLessThan(5000);
});

test('a request that no gateway made has no id of a gateway’s, and is logged all the same', async () => {
  const { requestContext, ...event } = eventWith();
  const { info } = await logged(
    () => ({ statusCode: 200 }),
    event as typeof event & { requestContext: typeof requestContext },
  );
  expect(info[0]?.[0]).toMatchObject({ operation: 'createPlant', outcome: 'succeeded', extendedRequestId: undefined });
});
