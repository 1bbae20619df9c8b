import type { Middleware, Request } from '../request.ts';
import { plantStoreErrorOf } from './error-response.ts';

/**
 * Logs one line a request, as an object that Lambda's JSON log format takes up: the operation's id, the function's
 * `version`, the outcome (`succeeded`, `refused`, or `failed` by a fault of ours, 5xx), the `error` number, the
 * gateway's extended request id, which no caller can choose ("Variables for access logging for API Gateway"), the
 * token's name and the duration in ms; what failed at level ERROR with the cause and its stack. Never a token, a digest
 * or a body.
 */
export function requestLog(operation: string): Middleware {
  const starts = new WeakMap<Request, number>();

  function line(request: Request, outcome: string, error?: number) {
    const { event, context, internal } = request;
    return {
      operation,
      version: context?.functionVersion,
      outcome,
      error,
      extendedRequestId: event?.requestContext?.extendedRequestId,
      tokenName: internal.tokenName,
      durationMs: Math.round((performance.now() - (starts.get(request) ?? Number.NaN)) * 100) / 100,
    };
  }

  return {
    before: (request) => {
      starts.set(request, performance.now());
    },
    after: (request) => {
      console.info(line(request, 'succeeded'));
    },
    onError: (request) => {
      const failure = plantStoreErrorOf(request.error);
      const { error } = failure;
      if (error < 500) console.info(line(request, 'refused', error));
      else console.error({ ...line(request, 'failed', error), cause: cause(failure) });
    },
  };
}

/** An Error or a text that was thrown, as plain data: an Error's `stack` and `cause` are lost when it is made JSON. */
function cause(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : undefined;
  const { name, message, stack } = error;
  // A chain of causes may be a ring.
  return { name, message, stack, cause: depth < 4 ? cause(error.cause, depth + 1) : undefined };
}
