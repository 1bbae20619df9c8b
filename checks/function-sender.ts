import { randomUUID } from 'node:crypto';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { RawResponse, Send, SentRequest } from './client.ts';

/**
 * Returns a function that sends requests to a version of a Lambda function as API Gateway does: as events of a proxy
 * integration. It throws if the version fails, or if API Gateway would reject its response. `resource` is the operation's
 * path, such as `/plants/{id}`.
 */
export function functionSender(lambda: LambdaClient, versionArn: string, resource: string, signal?: AbortSignal): Send {
  let requests = 0;
  return async (request) => {
    requests += 1;
    const event = proxyEvent(resource, request, requests % 2 === 1);
    const { FunctionError, Payload = new Uint8Array() } = await lambda.send(
      new InvokeCommand({ FunctionName: versionArn, Payload: JSON.stringify(event) }),
      signal && { abortSignal: signal },
    );
    const payload = Buffer.from(Payload).toString();
    if (FunctionError !== undefined) throw new Error(`the function failed: ${payload.slice(0, 300)}`);
    return responseOf(payload);
  };
}

/** Source: "Output format of a Lambda function for proxy integration" of API Gateway. */
function responseOf(payload: string): RawResponse {
  const { statusCode, headers, body, isBase64Encoded } = (JSON.parse(payload) ?? {}) as Record<string, unknown>;
  const entries = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const areScalars = entries.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  if (typeof statusCode !== 'number' || typeof body !== 'string' || !areScalars) {
    throw new Error(`${payload.slice(0, 300)}; it must be a proxy response with statusCode, headers and body`);
  }
  return {
    status: statusCode,
    headers: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])),
    text: isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
}

/**
 * Returns an event with the members that a function may read. API Gateway keeps the casing of header names: Title-Case
 * from some clients, lower case from others.
 *
 * Source: "Input format of a Lambda function for proxy integration" of API Gateway.
 */
function proxyEvent(resource: string, request: SentRequest, titleCase: boolean) {
  const { method, headers, body } = request;
  const [path = '', query] = request.path.split('?');
  const caseOf = (name: string) => (titleCase ? name.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase()) : name);
  const headerPairs = Object.entries(headers).map(([name, value]): [string, string] => [caseOf(name), value]);
  const parameters = [...new URLSearchParams(query)];
  const segments = path.split('/');
  const pathParameters = resource
    .split('/')
    .flatMap((name, index) => (name.startsWith('{') ? [[name.slice(1, -1), segments[index]]] : []));
  return {
    resource,
    path,
    httpMethod: method,
    headers: Object.fromEntries(headerPairs),
    multiValueHeaders: allValues(headerPairs),
    queryStringParameters: query === undefined ? null : Object.fromEntries(parameters),
    multiValueQueryStringParameters: query === undefined ? null : allValues(parameters),
    pathParameters: pathParameters.length > 0 ? Object.fromEntries(pathParameters) : null,
    stageVariables: null,
    requestContext: {
      httpMethod: method,
      path,
      resourcePath: resource,
      requestId: randomUUID(),
      extendedRequestId: randomUUID(),
    },
    // API Gateway encodes every body, because of the binary media types in infra/api/definition.ts.
    body: body.length > 0 ? Buffer.from(body).toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}

function allValues(pairs: [string, string][]): Record<string, string[]> {
  const values = [...Map.groupBy(pairs, ([name]) => name)];
  return Object.fromEntries(values.map(([name, pairsOfName]) => [name, pairsOfName.map(([, value]) => value)]));
}
