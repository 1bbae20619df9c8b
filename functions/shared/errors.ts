/** The `error` numbers of a function or the gateway, each with its condition (openapi.yaml, `Error`). */
export const ERROR_CONDITIONS = {
  400: 'the body is not JSON, or not a NewPlant (the message names each member and what it must be)',
  401: 'the token is missing, malformed, unknown, not valid, expired, revoked or without the required scope (checked before the body)',
  404: 'the path or the method does not exist',
  409: 'the id is in use by a different plant (nothing is changed)',
  413: 'the request exceeds a limit: 400 KB for a stored plant, 2.5 MB or 1,000 values for a body, or a limit of the gateway',
  415: 'the `Content-Type` is not `application/json`',
  429: 'the gateway or the database throttles requests',
  500: 'an internal error (its cause is only in the log)',
  503: 'the database or the identity provider failed or did not respond, after retries',
  504: 'the request took too long',
} as const;

export type ErrorNumber = keyof typeof ERROR_CONDITIONS;

/** The value of WWW-Authenticate (RFC 6750, section 3). */
const CHALLENGE = 'Bearer realm="plant-store"';

/**
 * The headers of an error response of a function or the gateway (RFC 6750, 3; RFC 9110, 10.2.3). `Retry-After` is in
 * seconds: throttling limits are per second, but a database that is down needs longer.
 */
export const errorHeaders: Partial<Record<ErrorNumber, Record<string, string>>> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': '5' },
};

/**
 * The response headers that pages of other origins can read. `x-amz-apigw-id` is the gateway's request id. The gateway
 * renames a function's `WWW-Authenticate` ("Amazon API Gateway important notes").
 */
export const EXPOSED_HEADERS = 'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate';

/** The message of error 503 if the identity provider's keys are not available. */
export const PROVIDER_UNAVAILABLE = 'The identity provider failed or did not respond. Repeating the request is safe.';

/** An error that is sent to the client: `message` and `headers` are in the response, `cause` is only in the log. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError';
  readonly error: ErrorNumber;
  readonly headers: Record<string, string>;

  /** @param options `headers` replace the default headers of the error number. */
  constructor(error: ErrorNumber, message: string, options: ErrorOptions & { headers?: Record<string, string> } = {}) {
    super(message, options);
    this.error = error;
    this.headers = options.headers ?? errorHeaders[error] ?? {};
  }
}

/** The error for a request with an invalid bearer token (RFC 6750, 3.1). */
export function invalidToken(message: string): PlantStoreError {
  return new PlantStoreError(401, message, { headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` } });
}
