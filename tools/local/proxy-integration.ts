import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import inspector from 'node:inspector';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { FUNCTION_TIMEOUT_MS } from '../../functions/time-limits.ts';

export const SAMPLE_EVENT: APIGatewayProxyEvent = JSON.parse(readFileSync('events/create-plant.json', 'utf8'));

export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** A handler throws this if the function cannot be loaded. The message says why. */
export class LoadError extends Error {}

/** An HTTP response, also one that the contract does not allow. Header names are in lower case. */
export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/**
 * Returns the event that API Gateway makes of a request to the function ("Input format of a Lambda function for proxy
 * integration in API Gateway"). Members that the function does not read are those of the sample event.
 *
 * @param extendedRequestId the id that is in the response header `x-amz-apigw-id`
 */
export function proxyEvent(request: IncomingMessage, body: Buffer, extendedRequestId: string): APIGatewayProxyEvent {
  // Names and values alternate. The names have the client's casing, as on API Gateway.
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
  const headers = names.map((name) => [name, request.headersDistinct[name.toLowerCase()] ?? []] as const);
  return {
    ...SAMPLE_EVENT,
    headers: Object.fromEntries(headers.map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: Object.fromEntries(headers),
    requestContext: { ...SAMPLE_EVENT.requestContext, extendedRequestId },
    // API Gateway encodes every body, because the API's binary media types are `*/*`.
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}

/** The members of Lambda's context that the function uses. */
export const localContext = {
  functionVersion: '$LATEST',
  // While a debugger can attach, the time does not run out. A timer with a longer delay would end at once.
  getRemainingTimeInMillis: () => (inspector.url() ? 2 ** 31 - 1 : FUNCTION_TIMEOUT_MS),
} as Context;

/**
 * Returns the HTTP response that API Gateway makes of the function's response ("Output format of a Lambda function for
 * proxy integration"). It renames a header ("Amazon API Gateway important notes").
 */
export function httpResponse({ statusCode, headers, body }: APIGatewayProxyResult): RawResponse {
  const lowerCase = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const { 'www-authenticate': challenge, ...others } = Object.fromEntries(lowerCase);
  const renamed = challenge === undefined ? {} : { 'x-amzn-remapped-www-authenticate': challenge };
  return { status: statusCode, headers: { 'content-type': 'application/json', ...others, ...renamed }, text: body };
}
