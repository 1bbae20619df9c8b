import { type IncomingMessage, type RequestListener, type ServerResponse, validateHeaderValue } from 'node:http';
import { buffer } from 'node:stream/consumers';
import {
  matchPath,
  newRequestIds,
  proxyResponse,
  type RawResponse,
} from '../../functions/pre-traffic-hook/proxy-event.ts';
import { createEvent, type HttpRequest } from './event.ts';
import type { RunningFunctions } from './lambda.ts';
import type { Template } from './template.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_HEADER_BYTES = 10_240;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The response to a larger body. The template cannot change it ("Amazon API Gateway important notes"). */
const BODY_TOO_LARGE: RawResponse = {
  status: 413,
  headers: { 'content-type': 'text/plain' },
  text: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
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
    const { status, headers, text } = await respond(served(), request);
    response.writeHead(status, {
      ...headers,
      'content-length': Buffer.byteLength(text),
      'x-amzn-requestid': request.ids.requestId,
      'x-amz-apigw-id': request.ids.extendedRequestId,
    });
    response.end(text);
    const error = /^\{"error":(\d+)/.exec(text)?.[1];
    const duration = `${(performance.now() - start).toFixed(1)} ms`;
    log([request.method, request.path, status, error ?? '-', duration].join('  '), error ? Number(error) : undefined);
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
    ids: newRequestIds(),
  };
}

/** Returns the response of the route's integration, or a gateway response if there is no route or it fails. */
async function respond({ template, invoke }: Served, request: HttpRequest): Promise<RawResponse> {
  const { url, rawHeaders } = request.message;
  if (`${url}${rawHeaders.join('')}`.length > MAX_HEADER_BYTES) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
  if (request.body.length > MAX_BODY_BYTES) return BODY_TOO_LARGE;
  // The template sorts the routes from the most to the least specific.
  const route = template.routes.find(
    ({ method, resource }) => [request.method, 'ANY'].includes(method) && matchPath(request.path, resource),
  );
  // The type for an unknown path or method.
  if (!route) return gatewayResponse(template, 'MISSING_AUTHENTICATION_TOKEN');
  if ('mock' in route.integration) return route.integration.mock;
  try {
    return functionResponse(await invoke(createEvent(request, route.resource)));
  } catch (error) {
    // API Gateway treats a failed function and an invalid response as a 502, so it sends DEFAULT_5XX.
    console.error((error as Error).message);
    return gatewayResponse(template, 'DEFAULT_5XX');
  }
}

/** Returns a gateway response ("Gateway response types for API Gateway"). */
function gatewayResponse({ gatewayResponses }: Template, type: string): RawResponse {
  const response = gatewayResponses.get(type);
  if (!response) throw new Error(`The template has no gateway response ${type}.`);
  return response;
}

function functionResponse(response: unknown): RawResponse {
  const { status, headers, text } = proxyResponse(response);
  for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
  const sent = Object.entries(headers).map(([name, value]) => [
    REMAPPED_HEADER.test(name) ? `x-amzn-remapped-${name}` : name,
    value,
  ]);
  return { status, headers: { 'content-type': 'application/json', ...Object.fromEntries(sent) }, text };
}
