/*
 * Who waits for another waits longer: an attempt of the database or the fetch of a provider's keys, all calls to the
 * database (until RESERVED_MS before the function's timeout), the response, the function, API Gateway (29 s), the client.
 * A release's check repeats requests, waits for the last one, and reports.
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

/** The pre-traffic hook repeats requests for this time after a temporary failure. */
export const HOOK_REPEAT_MS = 20_000;
/** Reserved at the end of the pre-traffic hook to report. */
export const HOOK_REPORT_MS = 15_000;
export const HOOK_TIMEOUT_MS = 60_000;
