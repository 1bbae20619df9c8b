import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_ACCOUNT } from './template.ts';

interface ProxyTarget {
  resource: string;
  pathParameters: Record<string, string>;
  stage: string;
  binaryMediaTypes: string[];
  requestId: string;
}

/**
 * The REST proxy event (payload format 1.0) that API Gateway would make of a request. Header names
 * keep the client's casing, absent maps are null, the path of the request context has the stage.
 *
 * Source: "Input format of a Lambda function for proxy integration in API Gateway".
 */
export function proxyEvent(
  request: IncomingMessage,
  body: Buffer,
  { resource, pathParameters, stage, binaryMediaTypes, requestId }: ProxyTarget,
): APIGatewayProxyEvent {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s);
  const method = request.method ?? '';
  const now = new Date();
  const sourceIp = request.socket.remoteAddress ?? '127.0.0.1';
  const headers = multiValues([
    ...pairs(request.rawHeaders),
    ['X-Amzn-Trace-Id', `Root=1-${Math.floor(now.getTime() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', String(request.socket.localPort)],
    ['X-Forwarded-Proto', 'http'],
  ]);
  const queryStringParameters = multiValues([...new URLSearchParams(query)]);
  const mediaType = (request.headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
  const isBinary = body.length > 0 && binaryMediaTypes.includes(mediaType);
  const requestContext = {
    accountId: LOCAL_ACCOUNT,
    apiId: 'local',
    authorizer: null,
    deploymentId: 'local',
    domainName: request.headers.host ?? 'localhost',
    domainPrefix: 'local',
    extendedRequestId: randomBytes(10).toString('base64'),
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
    requestId,
    requestTime: requestTime(now),
    requestTimeEpoch: now.getTime(),
    resourceId: createHash('sha256').update(resource).digest('hex').slice(0, 6),
    resourcePath: resource,
    stage,
  };
  return {
    resource,
    path,
    httpMethod: method,
    headers: lastValues(headers) ?? {},
    multiValueHeaders: headers,
    queryStringParameters: lastValues(queryStringParameters),
    multiValueQueryStringParameters: orNull(queryStringParameters),
    pathParameters: orNull(pathParameters),
    stageVariables: null,
    requestContext,
    body: body.length > 0 ? body.toString(isBinary ? 'base64' : 'utf8') : null,
    isBase64Encoded: isBinary,
  };
}

function pairs(rawHeaders: string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] satisfies [string, string]] : [],
  );
}

function multiValues(entries: [string, string][]): Record<string, string[]> {
  const values = Object.groupBy(entries, ([name]) => name);
  return Object.fromEntries(
    Object.entries(values).map(([name, named]) => [name, (named ?? []).map(([, value]) => value)]),
  );
}

function lastValues(values: Record<string, string[]>): Record<string, string> | null {
  return orNull(Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1) ?? ''])));
}

function orNull<Value>(map: Record<string, Value>): Record<string, Value> | null {
  return Object.keys(map).length > 0 ? map : null;
}

/** As in `21/Nov/2026:04:00:14 +0000`. */
function requestTime(date: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) (\S+)/.exec(date.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}
