import type { Middleware, Request } from '../request.ts';
import { toPlantStoreError } from './error-response.ts';

/**
 * Logs one JSON line per request. It never contains a token, a digest or a body.
 *
 * - `outcome`: `succeeded`, `refused` for an `error` below 500, or else `failed`, at level ERROR
 * - `cause`: the error with its causes and stacks, if it `failed` or has a cause, such as DynamoDB's throttling error
 * - `extendedRequestId`: the gateway's, because a client cannot choose it ("Variables for access logging for API Gateway")
 * - `operation`, the function's `version`, the `error` number, `tokenName`, and `durationMs`
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
      const cause = toPlainObject(failure);
      if (error >= 500) console.error({ ...logLine(operation, request, 'failed', error), cause });
      else console.info({ ...logLine(operation, request, 'refused', error), cause: failure.cause && cause });
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
