import { type ErrorNumber, type PlantStoreError, truncate } from '../errors.ts';
import type { Middleware, Request } from './types.ts';

/** A line of the log. `infra/monitoring/` counts and queries these fields. The compiler checks most of their names. */
export interface RequestLine {
  operation: string | undefined;
  version: string | undefined;
  outcome: 'succeeded' | 'rejected' | 'failed';
  error?: ErrorNumber;
  /** The gateway's, because a client cannot choose it ("Variables for access logging for API Gateway"). */
  extendedRequestId: string | undefined;
  tokenName: string | undefined;
  durationMs: number;
  /** For error 500, the unexpected error. For errors 503, 504, and 429 with a cause, the error with its causes. */
  fault?: LoggedError;
}

export type LoggedError =
  | { name: string; message: string; stack: string | undefined; cause: LoggedError }
  | string
  | undefined;

/** The database can send errors with long messages. */
const limit = (text: string | undefined) => text && truncate(text, 10_000);

/** Logs a RequestLine for each request. The function writes no token, digest or body into it. */
export function requestLog(): Middleware {
  return {
    before: ({ internal }) => {
      internal.startedAt = performance.now();
    },
    after: (request) => {
      log(request, { outcome: 'succeeded' });
    },
    onError: (request) => {
      // Only the context of the priming event (index.ts) has no version.
      if (request.context.functionVersion === undefined) return;
      // errorResponse has replaced what was thrown.
      const thrown = request.error as PlantStoreError;
      const { error, cause } = thrown;
      const isFault = error >= 500;
      log(request, {
        outcome: isFault ? 'failed' : 'rejected',
        error,
        // The message of error 500 says nothing, so its cause is logged instead: the unexpected error.
        fault: isFault || cause ? toLoggedError(error === 500 ? (cause ?? thrown) : thrown) : undefined,
      });
    },
  };
}

function log({ event, context, internal }: Request, result: Pick<RequestLine, 'outcome' | 'error' | 'fault'>): void {
  const { httpMethod, resource, requestContext, tokenName } = event;
  const line: RequestLine = {
    operation: httpMethod && resource && limit(`${httpMethod} ${resource}`),
    version: context.functionVersion,
    extendedRequestId: requestContext?.extendedRequestId,
    tokenName,
    durationMs: Math.round((performance.now() - internal.startedAt) * 100) / 100,
    ...result,
  };
  if (result.outcome === 'failed') console.error(line);
  else console.info(line);
}

/** Converts an Error to a plain object, because JSON omits `stack` and `cause`. Keeps a string, omits other values. */
function toLoggedError(thrown: unknown, depth = 0): LoggedError {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : undefined;
  const [name = '', message = '', stack] = [thrown.name, thrown.message, thrown.stack].map(limit);
  // The depth is limited because a chain of causes can be circular.
  return { name, message, stack, cause: depth < 4 ? toLoggedError(thrown.cause, depth + 1) : undefined };
}
