import middy from '@middy/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { strayRejections } from './stray-rejections.ts';

// The test runner's own listener would fail the run.
const listeners = process.listeners('unhandledRejection');
beforeEach(() => {
  process.removeAllListeners('unhandledRejection');
});
afterEach(() => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of listeners) process.on('unhandledRejection', listener);
});

const reason = new Error('inside');

function newStack() {
  const stack = middy()
    .use(strayRejections())
    .handler(async ({ body }) => {
      if (body?.includes('stray')) void Promise.reject(reason);
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (body?.includes('throw')) throw new Error('the request’s own');
      return 'answered';
    });
  return (body: string) => stack(eventWith({ body }), contextWith());
}

test('a request during which a rejection goes astray fails with it', async () => {
  await expect(newStack()('stray')).rejects.toMatchObject({
    message: 'A promise was rejected and not awaited.',
    cause: reason,
  });
});

test('the next request is answered as before', async () => {
  const stack = newStack();
  await expect(stack('stray')).rejects.toThrow();
  expect(await stack('')).toBe('answered');
});

test('a request that fails by itself takes its stray rejections along', async () => {
  const stack = newStack();
  await expect(stack('stray and throw')).rejects.toThrow('the request’s own');
  expect(await stack('')).toBe('answered');
});
