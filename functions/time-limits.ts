import type { Context } from 'aws-lambda';

/*
 * Each limit is longer than what it contains. All attempts to reach the database end RESPONSE_RESERVE_MS before the
 * function does: 6 s after the invocation began. API Gateway waits for 29 s.
 */

/** An attempt fails if no headers, or later no data, arrive for this time. DynamoDB usually takes 10 ms. */
export const ATTEMPT_SILENCE_MS = 1000;
/** Limits the read of the priming event in init, because the database can be unavailable then. */
export const PRIMING_MS = 1000;
/** Limits a fetch of the identity provider's metadata and keys together. */
export const PROVIDER_KEYS_MS = 1500;
/** Reserved at the end of the invocation to respond and log. A busy CPU ends a timer late. */
export const RESPONSE_RESERVE_MS = 4000;
/** A correct service responds within this time: 6 s for the database, 2 s for init. Tests wait for it. */
export const RESPONSE_MS = 8000;
export const FUNCTION_TIMEOUT_MS = 10_000;

/** Returns the milliseconds that the database may take in an invocation. They can be less than 0. */
export function databaseTimeoutMs(context: Pick<Context, 'getRemainingTimeInMillis'>): number {
  return context.getRemainingTimeInMillis() - RESPONSE_RESERVE_MS;
}
