import { EXPOSED_HEADERS } from '../../functions/errors.ts';

/** Returns true for an origin as browsers send it, without characters that are special in a header. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[a-z0-9.:[\]-]+$/.test(text) && URL.parse(text)?.origin === text;
}

/**
 * Checks the origins that a setting or ALLOW_ORIGINS allows: what browsers send in `Origin`, or only `*`. Elsewhere in
 * an origin, `*` is a wildcard for the function's CORS middleware. `'` ends the value of a header in API Gateway.
 */
export function requireOrigins(name: string, origins: string[]): void {
  const wrong = origins.join() === '*' ? undefined : origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return;
  const expected = 'an origin such as https://app.example.com, without a path, or * alone';
  throw new Error(`${name} was "${wrong}"; it must be ${expected}.`);
}

/**
 * Returns the CORS headers of API Gateway's own responses, which contain nothing secret. Without origins there are
 * none.
 *
 * The headers are fixed, so with several origins they allow "*". Then a page of any origin can send a request if it has
 * a token. It cannot read the function's response, because the function allows only the origins of the setting.
 */
export function corsHeaders(allowOrigins: string[]): Record<string, string> {
  const origin = allowOrigins.length > 1 ? '*' : allowOrigins[0];
  if (origin === undefined) return {};
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS };
}

export function preflightHeaders(allowOrigins: string[]): Record<string, string> | undefined {
  const { 'Access-Control-Allow-Origin': origin } = corsHeaders(allowOrigins);
  return origin === undefined
    ? undefined
    : {
        'Access-Control-Allow-Headers': 'Authorization,Content-Type',
        'Access-Control-Allow-Methods': 'POST',
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Max-Age': '3600',
      };
}
