import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { render } from 'velocityjs';
import type { Deployment } from './deploy.ts';
import { proxyEvent } from './event.ts';
import type { MockIntegration, Route, Template } from './template.ts';

/** "Quotas for configuring and running a REST API in API Gateway", and Lambda's own for an event. */
const MOST_BODY_BYTES = 10 * 1024 * 1024;
const MOST_HEADER_BYTES = 10_240;
const MOST_EVENT_BYTES = 6 * 1024 * 1024;

interface ProxyResponse {
  statusCode: number;
  headers: Record<string, string | string[]>;
  body: string;
}

/** One answered request. */
export interface AccessLine {
  method: string;
  path: string;
  status: number;
  /** The `error` of the answer's body; absent on success. */
  error: number | undefined;
  durationMs: number;
}

/**
 * API Gateway's REST API on `node:http`: the template's routes, each with its function behind it,
 * and the template's gateway responses for whatever the gateway answers itself.
 */
export function createGateway(current: () => Deployment, onAnswer: (line: AccessLine) => void): Server {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const requestId = randomUUID();
    const { statusCode, headers, body } = await respond(current(), request, path, requestId);
    if (response.destroyed) return;
    response.writeHead(statusCode, { ...headers, 'x-amzn-requestid': requestId }).end(body);
    onAnswer({
      method: request.method ?? '',
      path,
      status: statusCode,
      error: errorOf(body),
      durationMs: performance.now() - start,
    });
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // A caller that went away while sending has nobody to be answered.
    answer(request, response).catch(() => response.destroy());
  };
  // Node's own answers would not be in the contract's shape.
  return createServer({ maxHeaderSize: MOST_HEADER_BYTES, requireHostHeader: false }, listener)
    .on('checkExpectation', listener)
    .on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (!socket.writable) return void socket.destroy();
      const type = error.code === 'HPE_HEADER_OVERFLOW' ? 'REQUEST_TOO_LARGE' : 'DEFAULT_4XX';
      const { statusCode, body } = gatewayResponse(current().template, type);
      socket.end(
        `HTTP/1.1 ${statusCode} Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      );
    });
}

async function respond(
  { template, functions }: Deployment,
  request: IncomingMessage,
  path: string,
  requestId: string,
): Promise<ProxyResponse> {
  const body = await readBody(request);
  const found = findRoute(template.routes, request.method ?? '', path);
  if (!found) return gatewayResponse(template, 'MISSING_AUTHENTICATION_TOKEN');
  if (body === undefined) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
  const { route, pathParameters } = found;
  const { integration } = route;
  if ('responseTemplate' in integration) return mockResponse(integration, request);
  const event = JSON.stringify(
    proxyEvent(request, body, { ...template, resource: route.resource, pathParameters, requestId }),
  );
  if (Buffer.byteLength(event) > MOST_EVENT_BYTES) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
  const lambda = functions.get(integration.functionName);
  if (!lambda) return gatewayResponse(template, 'API_CONFIGURATION_ERROR');
  const timeout = new AbortController();
  try {
    const answer = await Promise.race([
      lambda.invoke(event),
      sleep(integration.timeoutMs, undefined, { signal: timeout.signal, ref: false }),
    ]);
    if (answer === undefined) return gatewayResponse(template, 'INTEGRATION_TIMEOUT');
    return proxyResponse(answer) ?? gatewayResponse(template, 'DEFAULT_5XX');
  } catch (error) {
    // A function that throws, crashes or times out is a 502 of the gateway.
    console.error((error as Error).message);
    return gatewayResponse(template, 'DEFAULT_5XX');
  } finally {
    timeout.abort();
  }
}

/** The body, read to its end so that the caller comes to reading the answer; nothing if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MOST_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes <= MOST_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

interface FoundRoute {
  route: Route;
  pathParameters: Record<string, string>;
}

export function findRoute(routes: Route[], method: string, path: string): FoundRoute | undefined {
  for (const route of routes) {
    const pattern = route.resource.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    // API Gateway overlooks a slash at the end.
    const match = route.method === method && new RegExp(`^${pattern}/?$`).exec(path);
    if (match) return { route, pathParameters: { ...match.groups } };
  }
  return undefined;
}

function gatewayResponse({ gatewayResponses }: Template, type: string): ProxyResponse {
  const fallback = /FAILURE|TIMEOUT|CONFIGURATION|5XX/.test(type) ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
  const response = gatewayResponses.get(type) ?? gatewayResponses.get(fallback);
  if (!response) throw new Error(`The template has no gateway response ${type} or ${fallback}.`);
  return { ...response, headers: { ...response.headers, 'content-type': 'application/json' } };
}

/** "API Gateway mapping template reference": as much of it as CDK's own templates use. */
function mockResponse(
  { statusCode, headers, responseTemplate }: MockIntegration,
  request: IncomingMessage,
): ProxyResponse {
  const overrides: Record<string, string> = {};
  const header = { get: (name: string) => request.headers[name.toLowerCase()] ?? '' };
  const body = render(responseTemplate, {
    input: { params: () => ({ header }) },
    context: { responseOverride: { header: overrides } },
  });
  const overridden = Object.entries(overrides).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    statusCode,
    headers: { ...headers, ...Object.fromEntries(overridden), 'content-type': 'application/json' },
    body: body.trim(),
  };
}

/** The function's answer where it has a proxy response's form ("Output format of a Lambda function for proxy integration"). */
function proxyResponse(answer: string): ProxyResponse | undefined {
  const response: unknown = JSON.parse(answer);
  if (typeof response !== 'object' || response === null || !('statusCode' in response)) return undefined;
  const { statusCode, headers, multiValueHeaders, body } = response as Partial<ProxyResponse> & {
    multiValueHeaders?: Record<string, string[]>;
  };
  if (!Number.isInteger(statusCode) || (body !== undefined && typeof body !== 'string')) return undefined;
  return {
    statusCode: Number(statusCode),
    headers: { 'content-type': 'application/json', ...headers, ...multiValueHeaders },
    body: body ?? '',
  };
}

function errorOf(body: string): number | undefined {
  try {
    return JSON.parse(body).error;
  } catch {
    return undefined;
  }
}
