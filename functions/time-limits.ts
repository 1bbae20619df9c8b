import type { Context } from 'aws-lambda';

/*
 * Each limit is shorter than the next: an idle attempt, all attempts (6 s), the function, and API Gateway (29 s). If an
 * outer limit ended first, the client would get no response of the function.
 */

/** An attempt fails if no headers, or later no data, arrive for this time. DynamoDB usually takes 10 ms. */
export const ATTEMPT_IDLE_TIMEOUT_MS = 1000;
/** Limits the read of the priming event in init, because the database can be unavailable then. */
export const PRIMING_TIMEOUT_MS = 1000;
export const PROVIDER_KEYS_TIMEOUT_MS = 1500;
/** Reserved at the end of the invocation to respond and log. On a busy CPU, timers fire late. */
export const RESPONSE_RESERVE_MS = 4000;
export const FUNCTION_TIMEOUT_MS = 10_000;

/** Returns the milliseconds that the database may take in an invocation. They can be less than 0. */
export function databaseTimeoutMs(context: Pick<Context, 'getRemainingTimeInMillis'>): number {
  return context.getRemainingTimeInMillis() - RESPONSE_RESERVE_MS;
}
