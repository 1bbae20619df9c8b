import type { Middleware, Request } from './request.ts';
import { cause } from './request-log.ts';

/**
 * Keeps a promise that was rejected and that nobody awaited from ending the process, for which the
 * gateway would answer. It is logged at level ERROR with its cause, the operation, and the extended request id
 * of the request during which it happened: that one fails with a 500, unless it fails anyway. A
 * rejection between two requests fails neither.
 */
export function strayRejections(operation: string): Middleware {
  let current: Request | undefined;
  let stray: Error | undefined;
  process.on('unhandledRejection', (reason) => {
    stray = new Error('A promise was rejected and not awaited.', { cause: reason });
    const extendedRequestId = current?.event?.requestContext?.extendedRequestId;
    console.error({ operation, extendedRequestId, cause: cause(stray) });
  });
  return {
    before: (request) => {
      current = request;
      stray = undefined;
    },
    after: () => {
      current = undefined;
      if (stray) throw stray;
    },
    onError: () => {
      current = undefined;
    },
  };
}
