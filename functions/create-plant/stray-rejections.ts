import type { Middleware } from './request.ts';

/**
 * Answers a promise that was rejected and that nobody awaited: Node.js would end the process, and
 * the gateway would answer for it. The request during which it happens fails with a 500 instead.
 */
export function strayRejections(): Middleware {
  let stray: { reason: unknown } | undefined;
  process.on('unhandledRejection', (reason) => {
    stray = { reason };
  });
  return {
    after: () => {
      if (!stray) return;
      const { reason } = stray;
      stray = undefined;
      throw new Error('A promise was rejected and not awaited.', { cause: reason });
    },
    onError: () => {
      stray = undefined;
    },
  };
}
