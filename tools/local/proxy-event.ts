import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { API_STAGE } from '../../infra/data/api-stage.ts';

/** Any response, also one that the contract does not allow. Header names are in lower case. */
export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A request as API Gateway receives it. */
export interface GatewayRequest {
  /** The path in the API definition, such as `/plants/{id}`. */
  resource: string;
  method: string;
  /** Without the API stage and the query. */
  path: string;
  query: string;
  /** Names have the client's casing. */
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/** Address and account of an event that does not come from AWS. Nothing validates them. */
const SOURCE_IP = '127.0.0.1';
const ACCOUNT_ID = '000000000000';

/**
 * Returns the path parameters, still percent-encoded, if a path matches a resource.
 *
 * @param path without a query, such as `/plants/7`
 * @param resource such as `/plants/{id}`
 */
export function matchPath(path: string, resource: string): Record<string, string> | undefined {
  const pattern = RegExp.escape(resource).replaceAll(/\\\{(\w+)\\\}/g, '(?<$1>[^/]+)');
  // API Gateway ignores a trailing slash.
  const match = new RegExp(`^${pattern}/?$`).exec(path);
  return match ? { ...match.groups } : undefined;
}

/** Returns the two ids that API Gateway gives a request. It sends the second one in the header `x-amz-apigw-id`. */
export function newRequestIds() {
  return { requestId: randomUUID(), extendedRequestId: randomBytes(11).toString('base64') };
}

export type RequestIds = ReturnType<typeof newRequestIds>;

/**
 * Returns the event that API Gateway makes of a request.
 *
 * Source: "Input format of a Lambda function for proxy integration in API Gateway".
 */
export function proxyEvent(request: GatewayRequest, ids: RequestIds): APIGatewayProxyEvent {
  const { resource, method, path, query, body } = request;
  const now = new Date();
  const headers: [string, string][] = [
    ...request.headers,
    ['X-Amzn-Trace-Id', `Root=1-${Math.floor(now.getTime() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`],
    ['X-Forwarded-For', SOURCE_IP],
    ['X-Forwarded-Port', '443'],
    ['X-Forwarded-Proto', 'https'],
  ];
  const headerOf = (name: string) => headers.find(([sent]) => sent.toLowerCase() === name)?.[1];
  const pathParameters = matchPath(path, resource) ?? {};
  const parameters = [...new URLSearchParams(query)];
  const [, day, month, year, time] = now.toUTCString().split(' ');
  // A variable, because TypeScript rejects unknown members, such as `deploymentId`, in a literal.
  const requestContext = {
    accountId: ACCOUNT_ID,
    apiId: 'local',
    authorizer: null,
    deploymentId: 'local',
    domainName: headerOf('host') ?? 'localhost',
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
      sourceIp: SOURCE_IP,
      user: null,
      userAgent: headerOf('user-agent') ?? null,
      userArn: null,
    },
    path: `/${API_STAGE}${path}`,
    protocol: 'HTTP/1.1',
    ...ids,
    requestTime: `${day}/${month}/${year}:${time} +0000`,
    requestTimeEpoch: now.getTime(),
    resourceId: hash('sha256', resource).slice(0, 6),
    resourcePath: resource,
    stage: API_STAGE,
  };
  return {
    resource,
    path,
    httpMethod: method,
    headers: Object.fromEntries(headers),
    multiValueHeaders: allValues(headers),
    queryStringParameters: parameters.length > 0 ? Object.fromEntries(parameters) : null,
    multiValueQueryStringParameters: parameters.length > 0 ? allValues(parameters) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext,
    // API Gateway encodes every body, because of the binary media types in infra/api/definition.ts.
    body: body.length > 0 ? Buffer.from(body).toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}

function allValues(pairs: [name: string, value: string][]): Record<string, string[]> {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.map(([, value]) => value)]));
}

/**
 * Returns the HTTP response that API Gateway makes of a function's response, without `multiValueHeaders`.
 *
 * Source: "Output format of a Lambda function for proxy integration".
 *
 * @throws if API Gateway would reject the response
 */
export function proxyResponse(response: unknown): RawResponse {
  const { statusCode, headers, body = '', isBase64Encoded } = (response ?? {}) as Record<string, unknown>;
  const entries = Object.entries(headers ?? {});
  const areScalars = entries.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  if (!Number.isInteger(statusCode) || typeof body !== 'string' || !areScalars) {
    // Without the response, which may contain a secret.
    throw new Error(
      'The response of the function is not a proxy response; it must have a statusCode, and can have headers and a body.',
    );
  }
  return {
    status: Number(statusCode),
    headers: Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)])),
    text: isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
}
