import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type ErrorNumber, errorHeaders } from '../functions/shared/errors.ts';
import { NO_ROUTE } from './no-route.ts';

const NOT_ALLOWED = 'The request is not allowed.';
const BAD_REQUEST = 'The request is malformed.';
const FAULT = 'The request failed through a fault of ours. Repeating it is safe.';
const THROTTLED = 'There are too many requests. Repeating the request a little later is safe.';

/**
 * All that a REST API answers by itself ("Gateway response types for API Gateway"). Messages are
 * fixed texts: `$context` values go into a template unescaped.
 */
export const gatewayResponses: { type: ResponseType; error: ErrorNumber; message: string }[] = [
  { type: ResponseType.ACCESS_DENIED, error: 401, message: NOT_ALLOWED },
  { type: ResponseType.API_CONFIGURATION_ERROR, error: 500, message: FAULT },
  { type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR, error: 500, message: FAULT },
  { type: ResponseType.AUTHORIZER_FAILURE, error: 500, message: FAULT },
  { type: ResponseType.BAD_REQUEST_BODY, error: 400, message: BAD_REQUEST },
  { type: ResponseType.BAD_REQUEST_PARAMETERS, error: 400, message: BAD_REQUEST },
  { type: ResponseType.DEFAULT_4XX, error: 400, message: BAD_REQUEST },
  { type: ResponseType.DEFAULT_5XX, error: 500, message: FAULT },
  { type: ResponseType.EXPIRED_TOKEN, error: 401, message: NOT_ALLOWED },
  { type: ResponseType.INTEGRATION_FAILURE, error: 500, message: FAULT },
  { type: ResponseType.INTEGRATION_TIMEOUT, error: 504, message: 'The request took too long. Repeating it is safe.' },
  { type: ResponseType.INVALID_API_KEY, error: 401, message: NOT_ALLOWED },
  // No method here is signed: where a route is missing, the gateway takes a bearer token for a bad signature.
  { type: ResponseType.INVALID_SIGNATURE, ...NO_ROUTE },
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, ...NO_ROUTE },
  { type: ResponseType.QUOTA_EXCEEDED, error: 429, message: THROTTLED },
  { type: ResponseType.REQUEST_TOO_LARGE, error: 413, message: 'The request is too large.' },
  { type: ResponseType.RESOURCE_NOT_FOUND, ...NO_ROUTE },
  { type: ResponseType.THROTTLED, error: 429, message: THROTTLED },
  { type: ResponseType.UNAUTHORIZED, error: 401, message: NOT_ALLOWED },
  // The function looks at its requests' media types; the gateway only at those for which there is no route.
  { type: ResponseType.UNSUPPORTED_MEDIA_TYPE, ...NO_ROUTE },
  { type: ResponseType.WAF_FILTERED, error: 401, message: NOT_ALLOWED },
];

/** Makes whatever the gateway answers itself a 400 with an Error of the contract. */
export function answerInContract(api: RestApi, headers: Record<string, string>): void {
  for (const { type, error, message } of gatewayResponses) {
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: '400',
      responseHeaders: { ...headers, ...quoted(errorHeaders[error]) },
      templates: { 'application/json': JSON.stringify({ error, message }) },
    });
  }
}

/** A fixed value stands in quotes. */
function quoted(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));
}
