import { randomBytes, randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, type ServerResponse, validateHeaderValue } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { render } from 'velocityjs';
import { createEvent, type GatewayRequest } from './event.ts';
import { EventTooLarge, type RunningFunctions } from './lambda.ts';
import type { HttpResponse, MockIntegration, Route, Template } from './template.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_HEADER_BYTES = 10_240;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The response to a larger body. The template cannot change it ("Amazon API Gateway important notes"). */
const BODY_TOO_LARGE: HttpResponse = {
  statusCode: 413,
  headers: { 'content-type': 'text/plain' },
  body: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
};

/**
 * API Gateway renames these headers of a function, for example `Date` to `x-amzn-Remapped-Date` ("Amazon API
 * Gateway important notes").
 */
const REMAPPED_HEADER = /^(authorization|connection|content-md5|date|max-forwards|server|user-agent|www-authenticate)$/;

/** Returns a listener that behaves like the template's REST API. Calls `log` with a line for each response, and its error. */
export function createGateway(
  running: () => RunningFunctions,
  log: (line: string, error?: number) => void,
): RequestListener {
  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const request = await readRequest(message);
    const { statusCode, headers, body } = await respond(running(), request);
    response.writeHead(statusCode, {
      ...headers,
      'content-length': Buffer.byteLength(body),
      'x-amzn-requestid': request.ids.requestId,
      'x-amz-apigw-id': request.ids.extendedRequestId,
    });
    response.end(body);
    const error = /^\{"error":(\d+)/.exec(body)?.[1];
    const duration = `${(performance.now() - start).toFixed(1)} ms`;
    log(
      [request.method, request.path, statusCode, error ?? '-', duration].join('  '),
      error ? Number(error) : undefined,
    );
  }

  return (message, response) => {
    handle(message, response).catch((error: Error) => {
      // A client can disconnect while it sends its body.
      if (message.complete) console.error(error.message);
      response.destroy();
    });
  };
}

async function readRequest(message: IncomingMessage): Promise<GatewayRequest> {
  // A proxy sends the whole URL, such as `http://host/plants` (RFC 9112, 3.2).
  const [path, ...query] = String(message.url)
    .replace(/^https?:\/\/[^/?]*/i, '')
    .split('?');
  return {
    message,
    method: String(message.method),
    path: path || '/',
    query: query.join('?'),
    body: await buffer(message),
    ids: { requestId: randomUUID(), extendedRequestId: randomBytes(11).toString('base64') },
  };
}

/** Returns the response of the route's integration, or a gateway response if there is no route or it fails. */
async function respond({ template, invoke }: RunningFunctions, request: GatewayRequest): Promise<HttpResponse> {
  const { url, rawHeaders } = request.message;
  if (`${url}${rawHeaders.join('')}`.length > MAX_HEADER_BYTES) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
  if (request.body.length > MAX_BODY_BYTES) return BODY_TOO_LARGE;
  const match = findRoute(template.routes, request);
  // The type for an unknown path or method.
  if (!match) return gatewayResponse(template, 'MISSING_AUTHENTICATION_TOKEN');
  const { integration } = match;
  if ('mediaTypes' in integration) return mockResponse(template, integration, request);
  const ended = new AbortController();
  try {
    const timeoutResponse = gatewayResponse(template, 'INTEGRATION_TIMEOUT');
    const timeout = sleep(integration.timeoutMs, timeoutResponse, { ref: false, signal: ended.signal });
    return await Promise.race([invoke(createEvent(request, template, match)).then(functionResponse), timeout]);
  } catch (error) {
    if (error instanceof EventTooLarge) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
    // API Gateway treats a failed function and an invalid response as a 502, so it sends DEFAULT_5XX.
    console.error((error as Error).message);
    return gatewayResponse(template, 'DEFAULT_5XX');
  } finally {
    ended.abort();
  }
}

/** Returns the first matching route. The template sorts the routes from the most to the least specific. */
function findRoute(routes: Route[], { method, path }: GatewayRequest) {
  for (const route of routes) {
    const literal = route.resource.replaceAll('.', '\\.');
    const pattern = literal.replaceAll(/\{(\w+)\+\}/g, '(?<$1>.+)').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    // API Gateway ignores a trailing slash.
    const match = [method, 'ANY'].includes(route.method) && new RegExp(`^${pattern}/?$`).exec(path);
    if (match) return { ...route, pathParameters: match.groups ?? null };
  }
  return undefined;
}

/** Returns a gateway response, or the default one of its class ("Gateway response types for API Gateway"). */
function gatewayResponse({ gatewayResponses }: Template, type: string): HttpResponse {
  const fallback = /TIMEOUT|5XX/.test(type) ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
  const response = gatewayResponses.get(type) ?? gatewayResponses.get(fallback);
  if (!response) throw new Error(`The template has no gateway response ${type} or ${fallback}.`);
  return response;
}

/** A function's response, before it is validated ("Output format of a Lambda function for proxy integration"). */
interface ProxyResponse {
  statusCode?: unknown;
  headers?: Record<string, unknown>;
  multiValueHeaders?: Record<string, unknown>;
  body?: unknown;
}

function functionResponse(response: unknown): HttpResponse {
  const { statusCode, headers = {}, multiValueHeaders = {}, body = '' } = (response ?? {}) as ProxyResponse;
  if (!Number.isInteger(statusCode) || typeof body !== 'string') {
    throw new Error('The function returned an invalid response: statusCode must be an integer, and body a string.');
  }
  const sentHeaders: HttpResponse['headers'] = { 'content-type': 'application/json' };
  const entries = [...Object.entries(headers), ...Object.entries(multiValueHeaders)];
  for (const [name, group] of Map.groupBy(entries, ([name]) => name.toLowerCase())) {
    const values = group.flatMap(([, value]) => value).map(String);
    for (const value of values) validateHeaderValue(name, value);
    sentHeaders[REMAPPED_HEADER.test(name) ? `x-amzn-remapped-${name}` : name] = [...new Set(values)];
  }
  return { statusCode: Number(statusCode), headers: sentHeaders, body };
}

/** Renders a mock integration's response template. Supports only the variables that the stack uses. */
function mockResponse(template: Template, mock: MockIntegration, { message }: GatewayRequest): HttpResponse {
  const contentType = message.headers['content-type'] || 'application/json';
  const mediaType = contentType.replace(/;.*/s, '').trim().toLowerCase();
  if (!mock.mediaTypes.includes(mediaType)) return gatewayResponse(template, 'UNSUPPORTED_MEDIA_TYPE');
  const overrides: Record<string, string> = {};
  const header = { get: (name: string) => message.headers[name.toLowerCase()] ?? '' };
  const body = render(mock.response.body, {
    input: { params: () => ({ header }) },
    context: { responseOverride: { header: overrides } },
  });
  const overridden = Object.entries(overrides).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...mock.response,
    headers: { ...mock.response.headers, ...Object.fromEntries(overridden) },
    body: body.trim(),
  };
}
