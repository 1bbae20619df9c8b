/*
 * Each of these waits for the one before it, so its time is longer: an attempt to reach the database, or the provider's
 * keys; all attempts together (they end RESERVED_MS before the function); the response; the function; API Gateway (29 s).
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
