import { randomUUID } from 'node:crypto';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { RawResponse, SentRequest } from './client.ts';

/** Sends a request to a version of a function. The resource is the operation's path, as in `/plants/{id}`. */
type FunctionSender = (versionArn: string, resource: string, request: SentRequest) => Promise<RawResponse>;

/**
 * Returns what sends requests to a function as API Gateway would: as events of a proxy integration. Each request throws
 * what was seen if the function fails, or if API Gateway could not use the response.
 */
export function functionSender(lambda: LambdaClient, abortSignal?: AbortSignal): FunctionSender {
  let requests = 0;
  return async (versionArn, resource, request) => {
    requests += 1;
    const event = proxyEvent(resource, request, requests % 2 === 1);
    const { FunctionError, Payload = new Uint8Array() } = await lambda.send(
      new InvokeCommand({ FunctionName: versionArn, Payload: JSON.stringify(event) }),
      abortSignal && { abortSignal },
    );
    const payload = Buffer.from(Payload).toString();
    if (FunctionError !== undefined) throw new Error(`the function failed: ${payload.slice(0, 300)}`);
    return responseOf(payload);
  };
}

/** Source: "Output format of a Lambda function for proxy integration" of API Gateway. */
function responseOf(payload: string): RawResponse {
  const { statusCode, headers, body, isBase64Encoded } = (JSON.parse(payload) ?? {}) as Record<string, unknown>;
  const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const areTexts = named.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  if (typeof statusCode !== 'number' || typeof body !== 'string' || !areTexts) {
    throw new Error(`${payload.slice(0, 300)}; it must be a proxy response with statusCode, headers and body`);
  }
  return {
    status: statusCode,
    headers: Object.fromEntries(named.map(([name, value]) => [name, String(value)])),
    text: isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
}

/**
 * The parts of API Gateway's event that a function may read. API Gateway keeps the header names as the client wrote
 * them: in Title-Case as curl does, or in lower case as fetch does.
 *
 * Source: "Input format of a Lambda function for proxy integration" of API Gateway.
 */
function proxyEvent(resource: string, request: SentRequest, titleCase: boolean) {
  const { method, headers, body } = request;
  const [path = '', query] = request.path.split('?');
  const caseOf = (name: string) => (titleCase ? name.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase()) : name);
  const named = Object.entries(headers).map(([name, value]): [string, string] => [caseOf(name), value]);
  const parameters = [...new URLSearchParams(query)];
  const values = path.split('/');
  const parts = resource
    .split('/')
    .flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), values[at]]] : []));
  return {
    resource,
    path,
    httpMethod: method,
    headers: Object.fromEntries(named),
    multiValueHeaders: allValues(named),
    queryStringParameters: query === undefined ? null : Object.fromEntries(parameters),
    multiValueQueryStringParameters: query === undefined ? null : allValues(parameters),
    pathParameters: parts.length > 0 ? Object.fromEntries(parts) : null,
    stageVariables: null,
    requestContext: {
      httpMethod: method,
      path,
      resourcePath: resource,
      requestId: randomUUID(),
      extendedRequestId: randomUUID(),
    },
    // API Gateway encodes every body (binaryMediaTypes in infra/api/api.ts).
    body: body.length > 0 ? Buffer.from(body).toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}

function allValues(pairs: [string, string][]): Record<string, string[]> {
  const values = [...Map.groupBy(pairs, ([name]) => name)];
  return Object.fromEntries(values.map(([name, ofName]) => [name, ofName.map(([, value]) => value)]));
}
