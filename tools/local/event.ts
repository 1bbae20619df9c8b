import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { FUNCTION_TIMEOUT_MS } from '../../functions/time-limits.ts';
import { API_STAGE } from '../../infra/data/api-stage.ts';
import { projectRoot } from '../project-root.ts';

export const sampleEvent: APIGatewayProxyEvent = JSON.parse(
  readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'),
);

/** The handler of the function. What it returns is checked by `proxyResponse`. */
export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;

/** A handler throws this if the function cannot be loaded. The message says why. */
export class LoadError extends Error {}

/** An HTTP response, also one that the contract does not allow. Header names are in lower case. */
export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/**
 * Returns the event that API Gateway makes of a request to `POST /plants` ("Input format of a Lambda function for proxy
 * integration in API Gateway"). Members that do not depend on the request are those of the sample event.
 *
 * @param extendedRequestId the id that is in the response header `x-amz-apigw-id`
 */
export function proxyEvent(request: IncomingMessage, body: Buffer, extendedRequestId: string): APIGatewayProxyEvent {
  const { pathname: path, searchParams } = new URL(`http://127.0.0.1${request.url}`);
  // In rawHeaders, names and values alternate. Names have the client's casing.
  const headers: Pairs = [
    ...request.rawHeaders.flatMap((name, index, all): Pairs => (index % 2 ? [] : [[name, String(all[index + 1])]])),
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-Port', '443'],
    ['X-Forwarded-Proto', 'https'],
  ];
  const parameters = [...searchParams];
  const now = new Date();
  const [, day, month, year, time] = now.toUTCString().split(' ');
  const { identity } = sampleEvent.requestContext;
  return {
    ...sampleEvent,
    path,
    headers: Object.fromEntries(headers),
    multiValueHeaders: allValues(headers),
    queryStringParameters: parameters.length > 0 ? Object.fromEntries(parameters) : null,
    multiValueQueryStringParameters: parameters.length > 0 ? allValues(parameters) : null,
    requestContext: {
      ...sampleEvent.requestContext,
      domainName: request.headers.host,
      extendedRequestId,
      identity: { ...identity, sourceIp: '127.0.0.1', userAgent: request.headers['user-agent'] ?? null },
      path: `/${API_STAGE}${path}`,
      requestId: randomUUID(),
      requestTime: `${day}/${month}/${year}:${time} +0000`,
      requestTimeEpoch: now.getTime(),
    },
    // API Gateway encodes every body, because the API's binary media types are `*/*`.
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}

type Pairs = [name: string, value: string][];

function allValues(pairs: Pairs): Record<string, string[]> {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.map(([, value]) => value)]));
}

/** Returns the members of Lambda's context that functions use. The remaining time never passes, for a debugger. */
export function contextOf({ requestContext }: APIGatewayProxyEvent): Context {
  return {
    awsRequestId: requestContext.requestId,
    functionName: 'createPlant',
    functionVersion: '$LATEST',
    getRemainingTimeInMillis: () => FUNCTION_TIMEOUT_MS,
  } as Context;
}

/**
 * Returns the HTTP response that API Gateway makes of a function's response ("Output format of a Lambda function for
 * proxy integration"), without `multiValueHeaders`.
 *
 * @throws if API Gateway would reject the response. The message does not quote it, because it may contain a secret
 */
export function proxyResponse(response: unknown): RawResponse {
  const { statusCode, headers, body = '', isBase64Encoded } = Object(response);
  if (!Number.isInteger(statusCode) || typeof body !== 'string') {
    throw new Error(
      'The response of the function must have an integer statusCode, and can have a body that is a string.',
    );
  }
  const lowerCase = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
  // API Gateway renames this header ("Amazon API Gateway important notes").
  const { 'www-authenticate': challenge, ...others } = Object.fromEntries(lowerCase);
  const renamed = challenge === undefined ? {} : { 'x-amzn-remapped-www-authenticate': challenge };
  return {
    status: statusCode,
    headers: { 'content-type': 'application/json', ...others, ...renamed },
    text: isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
}
