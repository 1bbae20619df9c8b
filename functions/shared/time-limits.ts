import type { Context } from 'aws-lambda';

/*
 * Innermost first. Each limit must exceed the one before it: an attempt to reach the database, or the provider's keys;
 * all attempts together, which end RESERVED_MS before the function; the response; the function; API Gateway (29 s).
 */

/** An attempt fails if no headers, or later no data, arrive for this time. DynamoDB usually takes 10 ms. */
export const DATABASE_IDLE_MS = 1000;
/** Limits a fetch of the identity provider's metadata and keys together. */
export const PROVIDER_KEYS_MS = 1500;
/** Reserved at the end of the invocation to respond and log. */
export const RESERVED_MS = 4000;
/** Maximum time until a response of a correct service: the database's, and the init of a new environment. */
export const RESPONSE_MS = 8000;
export const FUNCTION_TIMEOUT_MS = 10_000;

/** Returns the milliseconds that the database may take in an invocation. They can be less than 0. */
export function databaseMs(context: Pick<Context, 'getRemainingTimeInMillis'>): number {
  return context.getRemainingTimeInMillis() - RESERVED_MS;
}
