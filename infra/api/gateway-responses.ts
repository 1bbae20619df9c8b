import { type ErrorNumber, errorHeaders } from '../../functions/shared/errors.ts';

/** The response to a request for which the API has no operation. */
export const NOT_FOUND = { error: 404, message: 'There is no such path or method.' } as const;

const NOT_ALLOWED = 'The request is not allowed.';
const BAD_REQUEST = 'The request is malformed.';
const FAULT = 'The request failed through a fault of ours. Repeating it is safe.';
const THROTTLED = 'There are too many requests. Repeating the request a little later is safe.';

/**
 * All that a REST API answers by itself ("Gateway response types for API Gateway"). Messages are
 * fixed texts: `$context` values go into a template unescaped.
 */
export const gatewayResponses: { type: string; error: ErrorNumber; message: string }[] = [
  { type: 'ACCESS_DENIED', error: 401, message: NOT_ALLOWED },
  { type: 'API_CONFIGURATION_ERROR', error: 500, message: FAULT },
  { type: 'AUTHORIZER_CONFIGURATION_ERROR', error: 500, message: FAULT },
  { type: 'AUTHORIZER_FAILURE', error: 500, message: FAULT },
  { type: 'BAD_REQUEST_BODY', error: 400, message: BAD_REQUEST },
  { type: 'BAD_REQUEST_PARAMETERS', error: 400, message: BAD_REQUEST },
  { type: 'DEFAULT_4XX', error: 400, message: BAD_REQUEST },
  { type: 'DEFAULT_5XX', error: 500, message: FAULT },
  { type: 'EXPIRED_TOKEN', error: 401, message: NOT_ALLOWED },
  { type: 'INTEGRATION_FAILURE', error: 500, message: FAULT },
  { type: 'INTEGRATION_TIMEOUT', error: 504, message: 'The request took too long. Repeating it is safe.' },
  { type: 'INVALID_API_KEY', error: 401, message: NOT_ALLOWED },
  // No method here is signed: where a route is missing, the gateway takes a bearer token for a bad signature.
  { type: 'INVALID_SIGNATURE', ...NOT_FOUND },
  { type: 'MISSING_AUTHENTICATION_TOKEN', ...NOT_FOUND },
  { type: 'QUOTA_EXCEEDED', error: 429, message: THROTTLED },
  { type: 'REQUEST_TOO_LARGE', error: 413, message: 'The request is too large.' },
  { type: 'RESOURCE_NOT_FOUND', ...NOT_FOUND },
  { type: 'THROTTLED', error: 429, message: THROTTLED },
  { type: 'UNAUTHORIZED', error: 401, message: NOT_ALLOWED },
  // The function looks at its requests' media types; the gateway only at those for which there is no route.
  { type: 'UNSUPPORTED_MEDIA_TYPE', ...NOT_FOUND },
  { type: 'WAF_FILTERED', error: 401, message: NOT_ALLOWED },
];

/** The gateway responses of an API definition: each is a 400 with an Error of the contract and these headers. */
export function gatewayResponsesWith(headers: Record<string, string>) {
  return Object.fromEntries(
    gatewayResponses.map(({ type, error, message }) => [
      type,
      {
        statusCode: '400',
        responseParameters: responseParameters('gatewayresponse', { ...headers, ...errorHeaders[error] }),
        responseTemplates: { 'application/json': JSON.stringify({ error, message }) },
      },
    ]),
  );
}

/** Headers with fixed values, as API Gateway's mapping writes them: `gatewayresponse.header.Vary: "'Origin'"`. */
export function responseParameters(prefix: string, headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}.header.${name}`, `'${value}'`]));
}
