import middy from '@middy/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { strayRejections } from './stray-rejections.ts';

// The test runner's own listener would fail the run.
const listeners = process.listeners('unhandledRejection');
beforeEach(() => {
  process.removeAllListeners('unhandledRejection');
});
afterEach(() => {
  vi.restoreAllMocks();
  process.removeAllListeners('unhandledRejection');
  for (const listener of listeners) process.on('unhandledRejection', listener);
});

const reason = new Error('inside');
const { extendedRequestId } = eventWith().requestContext;
const logged = { name: 'Error', message: 'A promise was rejected and not awaited.' };

function newStack() {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const stack = middy()
    .use(strayRejections('createPlant'))
    .handler(async ({ body }) => {
      if (body?.includes('stray')) void Promise.reject(reason);
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (body?.includes('throw')) throw new Error('the request’s own');
      return 'answered';
    });
  return { send: (body: string) => stack(eventWith({ body }), contextWith()), lines: error.mock.calls };
}

test('a request during which a rejection goes astray fails with it, and both are logged', async () => {
  const { send, lines } = newStack();
  await expect(send('stray')).rejects.toMatchObject({ message: logged.message, cause: reason });
  expect(lines).toEqual([
    [
      {
        operation: 'createPlant',
        extendedRequestId,
        cause: expect.objectContaining({ ...logged, cause: expect.objectContaining({ message: 'inside' }) }),
      },
    ],
  ]);
});

test('the next request is answered as before', async () => {
  const { send } = newStack();
  await expect(send('stray')).rejects.toThrow();
  expect(await send('')).toBe('answered');
});

test('a request that fails by itself fails as it would, and the rejection is logged with it', async () => {
  const { send, lines } = newStack();
  await expect(send('stray and throw')).rejects.toThrow('the request’s own');
  expect(lines).toEqual([[expect.objectContaining({ extendedRequestId })]]);
  expect(await send('')).toBe('answered');
});

test('a rejection in an invocation that no gateway made is logged too', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const stack = middy()
    .use(strayRejections('createPlant'))
    .handler(async () => {
      void Promise.reject(reason);
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
  for (const event of ['null', '{}']) {
    await expect(stack(JSON.parse(event), contextWith())).rejects.toThrow(logged.message);
  }
  expect(error).toHaveBeenCalledTimes(2);
});

test.each(['', 'throw'])('a rejection between two requests is logged, and fails nobody’s (after %j)', async (body) => {
  const { send, lines } = newStack();
  await send(body).catch(() => {});
  void Promise.reject('inside');
  await expect.poll(() => lines).toHaveLength(1);
  expect(lines[0]).toEqual([
    {
      operation: 'createPlant',
      extendedRequestId: undefined,
      cause: expect.objectContaining({ ...logged, cause: 'inside' }),
    },
  ]);
  expect(await send('')).toBe('answered');
});
