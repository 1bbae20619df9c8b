/**
 * The error numbers of the contract and when each is answered: the `error` of every Error body,
 * whether this function or the gateway in front of it makes it.
 *
 * Source: openapi.yaml, `components.schemas.Error`.
 */
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

/** What a caller without a token is asked for (RFC 6750, section 3). */
export const CHALLENGE = 'Bearer realm="plant-store"';

/**
 * The headers that go with an error, whether this function or the gateway answers it: RFC 6750,
 * section 3, and RFC 9110, 10.2.3 (in seconds: a throttled rate is counted anew each second, a
 * database that is down takes longer).
 */
export const errorHeaders: Partial<Record<ErrorNumber, Record<string, string>>> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': '5' },
};

/**
 * The response headers that a page of another origin may read. `x-amz-apigw-id` is the gateway's
 * request id; of an answer of the function's, the gateway renames `WWW-Authenticate` ("Amazon API
 * Gateway important notes").
 */
export const EXPOSED_HEADERS = 'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate';

interface PlantStoreErrorOptions extends ErrorOptions {
  /** In place of the error's own. */
  headers?: Record<string, string>;
}

/** A failure the caller is told about: `message` and `headers` are answered as they are, `cause` only logged. */
export class PlantStoreError extends Error {
  readonly error: ErrorNumber;
  readonly headers: Record<string, string>;

  constructor(error: ErrorNumber, message: string, { headers, ...options }: PlantStoreErrorOptions = {}) {
    super(message, options);
    this.name = 'PlantStoreError';
    this.error = error;
    this.headers = headers ?? errorHeaders[error] ?? {};
  }
}
