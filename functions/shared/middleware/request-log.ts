import type { Middleware, Request } from '../request.ts';
import { toPlantStoreError } from './error-response.ts';

/**
 * Logs one JSON line per request: the operation's id, the function's version, the outcome (`succeeded`, `refused` for a
 * 4xx `error`, `failed` for a 5xx), the `error` number, the gateway's extended request id, which a client cannot choose
 * ("Variables for access logging for API Gateway"), the token's name, and the duration in ms. A failure is logged at
 * level ERROR with its cause and stack. A token, a digest or a body is never logged.
 */
export function requestLog(operation: string): Middleware {
  return {
    before: ({ internal }) => {
      internal.startedAt = performance.now();
    },
    after: (request) => {
      console.info(logLine(operation, request, 'succeeded'));
    },
    onError: (request) => {
      const failure = toPlantStoreError(request.error);
      const { error } = failure;
      if (error < 500) console.info(logLine(operation, request, 'refused', error));
      else console.error({ ...logLine(operation, request, 'failed', error), cause: toPlainObject(failure) });
    },
  };
}

function logLine(operation: string, { event, context, internal }: Request, outcome: string, error?: number) {
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

/** Converts an Error to a plain object, because JSON omits `stack` and `cause`. Keeps a string, omits other values. */
function toPlainObject(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : undefined;
  const { name, message, stack } = error;
  // The depth is limited because a chain of causes can be circular.
  return { name, message, stack, cause: depth < 4 ? toPlainObject(error.cause, depth + 1) : undefined };
}
