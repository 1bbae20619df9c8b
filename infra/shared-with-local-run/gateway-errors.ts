import { type ErrorNumber, INTERNAL_ERROR_MESSAGE, NOT_FOUND_MESSAGE } from '../../functions/errors.ts';

export interface ErrorBody {
  error: ErrorNumber;
  message: string;
}

/** The response to a path or method that is not in the contract. */
export const NOT_FOUND: ErrorBody = { error: 404, message: NOT_FOUND_MESSAGE };

const BAD_REQUEST: ErrorBody = { error: 400, message: 'The request is malformed.' };
const THROTTLED: ErrorBody = { error: 429, message: 'There are too many requests. Try again a little later.' };
const INTERNAL_ERROR: ErrorBody = { error: 500, message: INTERNAL_ERROR_MESSAGE };

/**
 * The bodies of API Gateway's own error responses by their type ("Gateway response types for API Gateway"). A type that
 * is not here gets the body of DEFAULT_4XX or DEFAULT_5XX, except REQUEST_TOO_LARGE, which cannot be changed ("Amazon
 * API Gateway important notes"). Messages have no variables, because API Gateway does not escape `$context` values in
 * templates.
 */
export const gatewayErrors = {
  DEFAULT_4XX: BAD_REQUEST,
  DEFAULT_5XX: INTERNAL_ERROR,
  INTEGRATION_TIMEOUT: { error: 504, message: 'The request took too long. Try again.' },
  THROTTLED: THROTTLED,
  // AWS WAF blocks only addresses that send too many requests. Its own response (web-acl.ts) comes before this one.
  WAF_FILTERED: THROTTLED,
  MISSING_AUTHENTICATION_TOKEN: NOT_FOUND,
  RESOURCE_NOT_FOUND: NOT_FOUND,
  // API Gateway may send it if it takes the bearer token for an AWS signature.
  INVALID_SIGNATURE: NOT_FOUND,
  // The function checks the Content-Type. API Gateway checks it only for OPTIONS, and for unknown paths and methods. No
  // page says that its 415 for a wrong Content-Encoding is of this type ("Call an API method with a compressed payload
  // in API Gateway").
  UNSUPPORTED_MEDIA_TYPE: NOT_FOUND,
} satisfies Record<string, ErrorBody>;
