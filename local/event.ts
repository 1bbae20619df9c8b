import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_ACCOUNT, type Template } from './template.ts';

/** A request's path, without the stage, and its query. */
export interface Target {
  path: string;
  query: string;
}

/** As API Gateway's response headers `x-amzn-requestid` and `x-amz-apigw-id` have them. */
export interface RequestIds {
  requestId: string;
  extendedRequestId: string;
}

type ProxyRoute = Pick<Template, 'stage' | 'isBinary'> & Pick<APIGatewayProxyEvent, 'resource' | 'pathParameters'>;

/** What a server receives; node:http has the two optional because a client's responses are of the same type. */
export interface ServerRequest extends IncomingMessage {
  method: string;
  url: string;
}

/** Of a request target in any form, such as `/plants?a=b` or `http://host/plants` (RFC 9112, 3.2). */
export function targetOf(url: string): Target {
  const [path, ...query] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return { path: path || '/', query: query.join('?') };
}

/** The media type of a request's body, in lower case; an empty string where it has none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
}

/**
 * The REST proxy event (payload format 1.0) that API Gateway would make of a request. Header names
 * keep the client's casing, absent maps are null, the path of the request context has the stage.
 *
 * Source: "Input format of a Lambda function for proxy integration in API Gateway".
 */
export function proxyEvent(
  request: ServerRequest,
  body: Buffer,
  { path, query }: Target,
  ids: RequestIds,
  { resource, pathParameters, stage, isBinary }: ProxyRoute,
): APIGatewayProxyEvent {
  const { method } = request;
  const now = new Date();
  const sourceIp = String(request.socket.remoteAddress);
  const headers: [string, string][] = [
    ...pairs(request.rawHeaders),
    ['X-Amzn-Trace-Id', `Root=1-${Math.floor(now.getTime() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', String(request.socket.localPort)],
    ['X-Forwarded-Proto', 'http'],
  ];
  const parameters = [...new URLSearchParams(query)];
  const isBase64Encoded = body.length > 0 && isBinary(mediaTypeOf(request));
  const requestContext = {
    accountId: LOCAL_ACCOUNT,
    apiId: 'local',
    authorizer: null,
    deploymentId: 'local',
    domainName: request.headers.host ?? 'localhost',
    domainPrefix: 'local',
    httpMethod: method,
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp,
      user: null,
      userAgent: request.headers['user-agent'] ?? null,
      userArn: null,
    },
    path: `/${stage}${path}`,
    protocol: `HTTP/${request.httpVersion}`,
    ...ids,
    requestTime: requestTime(now),
    requestTimeEpoch: now.getTime(),
    resourceId: hash('sha256', resource).slice(0, 6),
    resourcePath: resource,
    stage,
  };
  return {
    resource,
    path,
    httpMethod: method,
    headers: Object.fromEntries(headers),
    multiValueHeaders: multiValues(headers),
    queryStringParameters: orNull(Object.fromEntries(parameters)),
    multiValueQueryStringParameters: orNull(multiValues(parameters)),
    pathParameters,
    stageVariables: null,
    requestContext,
    body: body.length > 0 ? body.toString(isBase64Encoded ? 'base64' : 'utf8') : null,
    isBase64Encoded,
  };
}

/** Of a list in which names and values take turns. */
function pairs(rawHeaders: string[]): [string, string][] {
  return rawHeaders.flatMap((_, index) =>
    index % 2 === 0 ? [rawHeaders.slice(index, index + 2) as [name: string, value: string]] : [],
  );
}

function multiValues(entries: [string, string][]): Record<string, string[]> {
  const byName = Map.groupBy(entries, ([name]) => name);
  return Object.fromEntries([...byName].map(([name, named]) => [name, named.map(([, value]) => value)]));
}

function orNull<Value>(map: Record<string, Value>): Record<string, Value> | null {
  return Object.keys(map).length > 0 ? map : null;
}

/** As in `21/Nov/2026:04:00:14 +0000`. */
function requestTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
