/** A request of a check. */
export interface CheckRequest {
  method: string;
  /** With the query. */
  path: string;
  /** Default: a valid token, and `Content-Type: application/json`. An empty value removes a header. */
  headers?: { Authorization?: string; 'Content-Type'?: string; [name: string]: string };
  body?: string | Uint8Array;
}

/** A response 200, with exactly this body if it is given; or a 400 with this error. Header names are in lower case. */
export type Expected = ({ body?: object } | { error: number }) & { headers?: Record<string, RegExp> };

/** A request that the pre-traffic hook and the smoke test send, and the response that it must get. */
export interface Check {
  /** The expected behaviour, as a sentence. */
  title: string;
  /**
   * Makes the request. `id` is a positive int64 beyond 2^53, and the same for all checks of a run. No client can know it,
   * the numbers up to `id + 1000`, or their negatives.
   */
  request: (id: bigint, token: string) => CheckRequest;
  /** One of several, if the response depends on the settings of the stack. */
  expected: Expected | Expected[];
  /** True to send an expired token instead of a valid one. Only the pre-traffic hook has one. @default false */
  expired?: boolean;
  /**
   * True if the check needs another operation, for example to create first what this one reads. The pre-traffic hook leaves
   * it out, because it can invoke only one operation. @default false
   */
  smokeTestOnly?: boolean;
}

/** A token of the right form that was never issued. */
export const UNKNOWN_TOKEN = `plantstore_${'0'.repeat(43)}`;

/** RFC 6750, 3: the challenge has an error only if the request has a bearer token. */
const CHALLENGE = /^Bearer realm="[^"]+"$/;
const INVALID_TOKEN = /^Bearer realm="[^"]+", error="invalid_token"$/;

/**
 * Returns the checks of the access token that every operation has. They come after a valid request, because a broken
 * cache accepts any token after a valid one. `request` makes a request that would be valid with a token.
 */
export function tokenChecks(request: Check['request']): Check[] {
  const rejects = (title: string, authorization: string, challenge = INVALID_TOKEN): Check => ({
    title: `rejects ${title}`,
    request: (id, token) => ({ ...request(id, token), headers: { Authorization: authorization } }),
    expected: { error: 401, headers: { 'www-authenticate': challenge } },
  });
  return [
    rejects('a request without a token', '', CHALLENGE),
    rejects('an unknown token', `Bearer ${UNKNOWN_TOKEN}`),
    rejects('an unknown token after "bearer" in lower case', `bearer ${UNKNOWN_TOKEN}`),
    {
      title: 'rejects an expired token',
      request,
      expected: { error: 401, headers: { 'www-authenticate': INVALID_TOKEN } },
      expired: true,
    },
  ];
}
