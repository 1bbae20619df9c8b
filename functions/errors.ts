/** The `error` numbers of the function or the gateway. openapi.yaml (`Error`) says when each is sent. */
export const ERROR_NUMBERS = [400, 401, 404, 409, 413, 415, 429, 500, 503, 504] as const;
export type ErrorNumber = (typeof ERROR_NUMBERS)[number];

export const INTERNAL_ERROR_MESSAGE = 'The request failed because of an internal error. Try again.';

export const NOT_FOUND_MESSAGE = 'There is no such path or method.';

const CHALLENGE = 'Bearer realm="plant-store"';

/**
 * The headers of an error response of the function or the gateway (RFC 6750, 3; RFC 9110, 10.2.3). `Retry-After` is
 * in seconds: throttling limits are per second, but a database that is down needs longer.
 */
export const errorHeaders: Partial<Record<ErrorNumber, Record<string, string>>> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': '5' },
};

/**
 * The response headers that pages of other origins can read. `x-amz-apigw-id` is the gateway's request id. The gateway
 * renames the function's `WWW-Authenticate` ("Amazon API Gateway important notes").
 */
export const EXPOSED_HEADERS = 'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate';

/** An error that is sent to the client: `message` and `headers` are in the response, `cause` is only in the log. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError';
  readonly error: ErrorNumber;
  readonly headers: Record<string, string>;

  constructor(error: ErrorNumber, message: string, options: ErrorOptions & { headers?: Record<string, string> } = {}) {
    // The message can quote a SyntaxError, which can contain half of a surrogate pair.
    super(message.toWellFormed(), options);
    this.error = error;
    this.headers = options.headers ?? errorHeaders[error] ?? {};
  }
}

/** Shortens a longer text. If that cuts a surrogate pair, replaces its half, which `JSON.stringify` would escape. */
export function truncate(text: string, maxLength = 40): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
}

export function invalidTokenError(message: string): PlantStoreError {
  return new PlantStoreError(401, message, { headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` } });
}
