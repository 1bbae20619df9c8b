import type { RequestListener } from 'node:http';
import { format } from 'node:util';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { optionalVariable } from '../../functions/shared/environment.ts';
import { errorHeaders } from '../../functions/shared/errors.ts';
import { FUNCTION_TIMEOUT_MS } from '../../functions/shared/time-limits.ts';
import { corsHeaders, preflightHeaders } from '../../infra/api/cors.ts';
import { gatewayResponses } from '../../infra/api/gateway-responses.ts';
import { type Operation, readOperations } from '../../infra/contract.ts';
import { docsPage } from './docs-page.ts';
import { responseLine } from './log.ts';
import type { GatewayRequest, RawResponse, RequestIds } from './proxy-event.ts';
import { matchPath, newRequestIds, proxyEvent, proxyResponse } from './proxy-event.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The response to a larger body, which nobody can change ("Amazon API Gateway important notes"). */
const BODY_TOO_LARGE: RawResponse = {
  status: 413,
  headers: { 'content-type': 'text/plain' },
  text: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
};

const NOT_FOUND = JSON.stringify(gatewayResponses['MISSING_AUTHENTICATION_TOKEN']);

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;
export type Route = Operation & { handler: Handler };

/** Imports the handler of each operation. Throws an error whose message has the file and the line if that fails. */
export async function importRoutes(): Promise<Route[]> {
  return Promise.all(
    readOperations().map(async (operation) => {
      // Without the comment, Vite would expect a variable without a slash.
      const { handler }: { handler: Handler } = await import(/* @vite-ignore */ `../../${operation.folder}/index.ts`);
      return { ...operation, handler };
    }),
  ).catch((error) => {
    throw new Error(format('The functions cannot be loaded:\n%O', error));
  });
}

/** Invokes a handler with the members of Lambda's context that functions use. The remaining time is always that of the timeout. */
export function invoke({ handler, operationId }: Route, event: APIGatewayProxyEvent): Promise<unknown> {
  const { requestId: awsRequestId } = event.requestContext;
  const context = { awsRequestId, functionName: operationId, functionVersion: '$LATEST' };
  return handler(event, { ...context, getRemainingTimeInMillis: () => FUNCTION_TIMEOUT_MS } as Context);
}

/**
 * Returns a listener that responds as API Gateway does, and with the page at /docs.
 *
 * @param log gets a line for each response, without those of the page
 */
export function createGateway(routes: Route[], log: (line: string) => void): RequestListener {
  return async (message, response) => {
    const start = performance.now();
    const [path = '', ...query] = String(message.url).split('?');
    const ids = newRequestIds();
    const send = ({ status, headers, text }: RawResponse, isLogged = true) => {
      const own = { 'content-length': Buffer.byteLength(text), 'x-amz-apigw-id': ids.extendedRequestId };
      response.writeHead(status, { ...headers, ...own }).end(text);
      if (isLogged) log(responseLine(`${method} ${path}`, status, text, performance.now() - start));
      if (text === NOT_FOUND) log(`The routes are ${routes.map((each) => `${each.method} ${each.path}`).join(', ')}.`);
    };
    const method = String(message.method);
    try {
      // In rawHeaders, names and values alternate.
      const headers = message.rawHeaders.flatMap((name, index, all): [string, string][] =>
        index % 2 === 0 ? [[name, String(all[index + 1])]] : [],
      );
      const body = await readBody(message);
      const page = ['GET', 'HEAD'].includes(method) && docsPage(path, message.headers.accept);
      if (page) send(page, false);
      else send(await respond(routes, { method, path, query: query.join('?'), headers, body }, ids));
    } catch (error) {
      // The client has disconnected.
      if (response.destroyed) return;
      // API Gateway treats a failed function and an invalid response as a 502, so it sends DEFAULT_5XX.
      console.error(error);
      send(gatewayResponse('DEFAULT_5XX'));
    }
  };
}

/**
 * Reads a body to its end, because many clients read no response before. Keeps only as much as shows that it is too large.
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
  if (!route) return preflightResponse(method, ofPath) ?? gatewayResponse('MISSING_AUTHENTICATION_TOKEN');
  const { headers, ...response } = proxyResponse(
    await invoke(route, proxyEvent({ ...request, resource: route.path }, ids)),
  );
  // API Gateway renames the header ("Amazon API Gateway important notes").
  const { 'www-authenticate': challenge, ...others } = headers;
  const renamed = challenge === undefined ? {} : { 'x-amzn-remapped-www-authenticate': challenge };
  return { ...response, headers: { 'content-type': 'application/json', ...others, ...renamed } };
}

const allowOrigins = () => optionalVariable('ALLOW_ORIGINS')?.split(',') ?? [];

function preflightResponse(method: string, routes: Route[]): RawResponse | undefined {
  const methods = routes.map((route) => route.method);
  const headers = method === 'OPTIONS' && routes.length > 0 && preflightHeaders(methods, allowOrigins());
  return headers ? { status: 200, headers: { ...headers, 'content-type': 'application/json' }, text: '' } : undefined;
}

/** Returns a gateway response of the stack. MISSING_AUTHENTICATION_TOKEN is the type for an unknown path or method. */
export function gatewayResponse(type: 'DEFAULT_5XX' | 'MISSING_AUTHENTICATION_TOKEN'): RawResponse {
  const { error, message } = gatewayResponses[type];
  const headers = { 'content-type': 'application/json', ...corsHeaders(allowOrigins()), ...errorHeaders[error] };
  return { status: 400, headers, text: JSON.stringify({ error, message }) };
}
