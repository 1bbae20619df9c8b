/** When each `error` number of the contract is returned, by a function or the gateway (openapi.yaml, `Error`). */
export const errors = {
  400: 'the body is not JSON, or not a NewPlant (the message names each member and what it must be)',
  401: 'no token, a malformed, unknown, expired or revoked one; decided before the body is looked at',
  404: 'no such path or method',
  409: 'the id is in use by a different plant (nothing is changed)',
  413: 'too large: for the database (an item of 400 KB), for the service (a body of 2.5 MB or 1,000 values), or for the gateway',
  415: 'the body is not declared as `application/json`',
  429: 'throttled, by the gateway or by the database',
  500: 'a fault of ours (the message says nothing of the inside; the log says all)',
  503: 'the database, or the identity provider, did not respond after retries',
  504: 'out of time',
} as const;

export type ErrorNumber = keyof typeof errors;

/** The challenge of RFC 6750, section 3. */
export const CHALLENGE = 'Bearer realm="plant-store"';

/**
 * The headers of an error, whether a function or the gateway responds with it (RFC 6750, 3; RFC 9110, 10.2.3).
 * `Retry-After` is in seconds: throttling counts anew each second, a database that is down takes longer.
 */
export const errorHeaders: Partial<Record<ErrorNumber, Record<string, string>>> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': '5' },
};

/**
 * The response headers that a page of another origin may read. `x-amz-apigw-id` is the gateway's request id. The gateway
 * renames a function's `WWW-Authenticate` ("Amazon API Gateway important notes").
 */
export const EXPOSED_HEADERS = 'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate';

/** An error that the client is told about: the response has `message` and `headers` as they are, only the log `cause`. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError';
  readonly error: ErrorNumber;
  readonly headers: Record<string, string>;

  /** @param options `headers` replace those of the error number. */
  constructor(error: ErrorNumber, message: string, options: ErrorOptions & { headers?: Record<string, string> } = {}) {
    super(message, options);
    this.error = error;
    this.headers = options.headers ?? errorHeaders[error] ?? {};
  }
}
