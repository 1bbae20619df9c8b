import type { Middleware, Request } from '../request.ts';
import { plantStoreErrorOf } from './error-response.ts';

/**
 * Logs a line for each request, as an object that Lambda's JSON log format takes up: the operation's id, the function's
 * version, the outcome (`succeeded`, `refused`, or `failed` by an internal error, 5xx), the `error` number, the gateway's
 * extended request id, which no client can choose ("Variables for access logging for API Gateway"), the token's name and
 * the duration in ms. A failure is logged at level ERROR with its cause and stack. Never a token, a digest or a body.
 */
export function requestLog(operation: string): Middleware {
  return {
    before: ({ internal }) => {
      internal.startedAt = performance.now();
    },
    after: (request) => {
      console.info(line(operation, request, 'succeeded'));
    },
    onError: (request) => {
      const failure = plantStoreErrorOf(request.error);
      const { error } = failure;
      if (error < 500) console.info(line(operation, request, 'refused', error));
      else console.error({ ...line(operation, request, 'failed', error), cause: cause(failure) });
    },
  };
}

function line(operation: string, { event, context, internal }: Request, outcome: string, error?: number) {
  return {
    operation,
    version: context?.functionVersion,
    outcome,
    error,
    extendedRequestId: event?.requestContext?.extendedRequestId,
    tokenName: internal.tokenName,
    durationMs: Math.round((performance.now() - (internal.startedAt ?? Number.NaN)) * 100) / 100,
  };
}

/** An Error or a text that was thrown, as plain data, because JSON has neither an Error's `stack` nor its `cause`. */
function cause(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : undefined;
  const { name, message, stack } = error;
  // A chain of causes may be a ring.
  return { name, message, stack, cause: depth < 4 ? cause(error.cause, depth + 1) : undefined };
}
