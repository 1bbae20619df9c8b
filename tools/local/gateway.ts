import type { RequestListener } from 'node:http';
import { optionalVariable } from '../../functions/environment.ts';
import { errorHeaders } from '../../functions/errors.ts';
import { corsHeaders, isOrigin, preflightHeaders } from '../../infra/data/cors.ts';
import { type ErrorBody, gatewayResponses, NOT_FOUND } from '../../infra/data/gateway-responses.ts';
import { docsPage } from './docs-page.ts';
import { LoadError } from './load-error.ts';
import { responseLine } from './log.ts';
import type { GatewayRequest, RawResponse, RequestIds } from './proxy-event.ts';
import { matchPath, newRequestIds, proxyEvent, proxyResponse } from './proxy-event.ts';
import { invoke, type Route } from './routes.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The response to a larger body, which nobody can change ("Amazon API Gateway important notes"). */
const BODY_TOO_LARGE: RawResponse = {
  status: 413,
  headers: { 'content-type': 'text/plain' },
  text: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
};

/** "Lambda quotas", for a synchronous invocation. */
const MAX_EVENT_BYTES = 6_291_556;

/** The response if the event is larger, which nobody can change either. A body in base64 is a third larger. */
const EVENT_TOO_LARGE: RawResponse = {
  status: 413,
  headers: { 'content-type': 'application/json' },
  text: '{"message":"Request Too Long"}',
};

/**
 * Returns a listener that responds as API Gateway does, and with the page at /docs.
 *
 * @param log gets a line for each response, without those of the page
 */
export function createGateway(routes: Route[], log: (line: string) => void): RequestListener {
  return async (message, response) => {
    const start = performance.now();
    const [path = '', ...query] = String(message.url).split('?');
    const method = String(message.method);
    const ids = newRequestIds();
    const send = ({ status, headers, text }: RawResponse) => {
      const own = { 'content-length': Buffer.byteLength(text), 'x-amz-apigw-id': ids.extendedRequestId };
      response.writeHead(status, { ...headers, ...own }).end(text);
    };
    const sendAndLog = (result: RawResponse) => {
      send(result);
      log(responseLine(`${method} ${path}`, result.status, result.text, performance.now() - start));
      const hint = originHint(routes, method, path, message.headers.origin);
      if (hint) log(hint);
      else if (result.text === JSON.stringify(NOT_FOUND)) log(routesText(routes));
    };
    try {
      // In rawHeaders, names and values alternate.
      const headers = message.rawHeaders.flatMap((name, index, all): [string, string][] =>
        index % 2 === 0 ? [[name, String(all[index + 1])]] : [],
      );
      const body = await readBody(message);
      const page = ['GET', 'HEAD'].includes(method) && docsPage(path, message.headers.accept);
      if (page) send(page);
      else sendAndLog(await respond(routes, { method, path, query: query.join('?'), headers, body }, ids));
    } catch (thrown) {
      // The client has disconnected.
      if (response.destroyed) return;
      // The terminal has already shown why the code cannot be loaded.
      if (thrown instanceof LoadError) return sendAndLog(gatewayError(gatewayResponses.DEFAULT_5XX, thrown.message));
      console.error(thrown);
      // API Gateway treats a failed function and an invalid response as a 502, so it sends DEFAULT_5XX.
      sendAndLog(gatewayError(gatewayResponses.DEFAULT_5XX));
    }
  };
}

/** Returns a line with all routes, for the terminal. */
export function routesText(routes: Route[]): string {
  return `The routes are ${routes.map(({ method, path }) => `${method} ${path}`).join(', ')}.`;
}

/** Returns how to allow the origin of a preflight request that is not allowed. */
function originHint(routes: Route[], method: string, path: string, origin = ''): string | undefined {
  const isPreflight = method === 'OPTIONS' && routes.some((route) => matchPath(path, route.path));
  const allowed = allowOrigins();
  if (!isPreflight || !isOrigin(origin) || allowed.includes('*') || allowed.includes(origin)) return undefined;
  const value = [...allowed, origin].join();
  return `Pages of ${origin} cannot use the API. To allow it, set ALLOW_ORIGINS=${value} and start again.`;
}

/**
 * Reads a body to its end, because many clients read the response only after they have sent the whole body. Keeps only
 * as much as shows that it is too large.
 */
export async function readBody(message: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

/** Returns the response of the operation, or a gateway response if there is none or it fails. */
async function respond(routes: Route[], request: Omit<GatewayRequest, 'resource'>, ids: RequestIds) {
  const { method, path, body } = request;
  if (body.length > MAX_BODY_BYTES) return BODY_TOO_LARGE;
  // API Gateway chooses the path first. "{" comes after letters and digits, so a path without parameters comes first.
  const sorted = routes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const resource = sorted.find((each) => matchPath(path, each.path))?.path;
  const ofPath = routes.filter((each) => each.path === resource);
  const route = ofPath.find((each) => each.method === method);
  if (!route) return preflightResponse(method, ofPath) ?? gatewayError(NOT_FOUND);
  const event = proxyEvent({ ...request, resource: route.path }, ids);
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return EVENT_TOO_LARGE;
  const { headers, ...response } = proxyResponse(await invoke(route, event));
  // API Gateway renames the header ("Amazon API Gateway important notes").
  const { 'www-authenticate': challenge, ...others } = headers;
  const renamed = challenge === undefined ? {} : { 'x-amzn-remapped-www-authenticate': challenge };
  return { ...response, headers: { 'content-type': 'application/json', ...others, ...renamed } };
}

const allowOrigins = () => optionalVariable('ALLOW_ORIGINS')?.split(',') ?? [];

function preflightResponse(method: string, routes: Route[]): RawResponse | undefined {
  const headers = method === 'OPTIONS' && routes.length > 0 && preflightHeaders(allowOrigins());
  return headers ? { status: 200, headers: { ...headers, 'content-type': 'application/json' }, text: '' } : undefined;
}

/**
 * Returns an error response of API Gateway in the stack.
 *
 * @param reason replaces the message
 */
function gatewayError({ error, message }: ErrorBody, reason = message): RawResponse {
  const headers = { 'content-type': 'application/json', ...corsHeaders(allowOrigins()), ...errorHeaders[error] };
  return { status: 400, headers, text: JSON.stringify({ error, message: reason }) };
}
