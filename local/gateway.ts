import { randomBytes, randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, type ServerResponse, validateHeaderValue } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { proxyResponse } from '../checks/proxy-event.ts';
import { createEvent, type HttpRequest } from './event.ts';
import { EventTooLarge, type RunningFunctions } from './lambda.ts';
import type { HttpResponse, Route, Template } from './template.ts';

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

/** A template, and its functions. */
type Served = Pick<RunningFunctions, 'template' | 'invoke'>;

/** Returns a listener that behaves like the template's REST API. Calls `log` with a line for each response, and its error. */
export function createGateway(served: () => Served, log: (line: string, error?: number) => void): RequestListener {
  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const request = await readRequest(message);
    const { statusCode, headers, body } = await respond(served(), request);
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

async function readRequest(message: IncomingMessage): Promise<HttpRequest> {
  const [path = '', ...query] = String(message.url).split('?');
  return {
    message,
    method: String(message.method),
    path,
    query: query.join('?'),
    body: await buffer(message),
    ids: { requestId: randomUUID(), extendedRequestId: randomBytes(11).toString('base64') },
  };
}

/** Returns the response of the route's integration, or a gateway response if there is no route or it fails. */
async function respond({ template, invoke }: Served, request: HttpRequest): Promise<HttpResponse> {
  const { url, rawHeaders } = request.message;
  if (`${url}${rawHeaders.join('')}`.length > MAX_HEADER_BYTES) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
  if (request.body.length > MAX_BODY_BYTES) return BODY_TOO_LARGE;
  const match = findRoute(template.routes, request);
  // The type for an unknown path or method.
  if (!match) return gatewayResponse(template, 'MISSING_AUTHENTICATION_TOKEN');
  const { integration } = match;
  if ('mock' in integration) return integration.mock;
  try {
    return functionResponse(await invoke(createEvent(request, template, match)));
  } catch (error) {
    if (error instanceof EventTooLarge) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
    // API Gateway treats a failed function and an invalid response as a 502, so it sends DEFAULT_5XX.
    console.error((error as Error).message);
    return gatewayResponse(template, 'DEFAULT_5XX');
  }
}

/** Returns the first matching route. The template sorts the routes from the most to the least specific. */
function findRoute(routes: Route[], { method, path }: HttpRequest) {
  for (const route of routes) {
    const literal = route.resource.replaceAll('.', '\\.');
    const pattern = literal.replaceAll(/\{(\w+)\+\}/g, '(?<$1>.+)').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    // API Gateway ignores a trailing slash.
    const match = [method, 'ANY'].includes(route.method) && new RegExp(`^${pattern}/?$`).exec(path);
    if (match) return { ...route, pathParameters: match.groups ?? null };
  }
  return undefined;
}

/** Returns a gateway response ("Gateway response types for API Gateway"). */
function gatewayResponse({ gatewayResponses }: Template, type: string): HttpResponse {
  const response = gatewayResponses.get(type);
  if (!response) throw new Error(`The template has no gateway response ${type}.`);
  return response;
}

function functionResponse(response: unknown): HttpResponse {
  const { status, headers, text } = proxyResponse(response);
  for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
  const sent = Object.entries(headers).map(([name, value]) => [
    REMAPPED_HEADER.test(name) ? `x-amzn-remapped-${name}` : name,
    value,
  ]);
  return {
    statusCode: status,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(sent) },
    body: text,
  };
}
