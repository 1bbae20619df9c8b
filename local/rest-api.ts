import { validateHeaderName, validateHeaderValue } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { render } from 'velocityjs';
import type { Deployment } from './deploy.ts';
import { mediaTypeOf, proxyEvent, type RequestIds, type ServerRequest, type Target } from './event.ts';
import { type Answer, answerOf, type MockIntegration, type Route, type Template } from './template.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Of an event, and of the answer to it, as JSON ("Lambda quotas"). */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

/**
 * The response to a larger body: API Gateway ignores the gateway response REQUEST_TOO_LARGE and sends no request id
 * ("Amazon API Gateway important notes").
 */
export const BODY_TOO_LARGE: Answer = {
  statusCode: 413,
  headers: { 'content-type': 'text/plain' },
  body: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
};

/** What the deployed REST API answers to a request: its route's integration, or a gateway response. */
export async function answerTo(
  deployment: Deployment,
  request: ServerRequest,
  target: Target,
  ids: RequestIds,
): Promise<Answer> {
  const { template } = deployment;
  const body = await readBody(request);
  if (body === undefined) return BODY_TOO_LARGE;
  const found = findRoute(template.routes, request.method, target.path);
  if (!found) return gatewayResponse(template, 'MISSING_AUTHENTICATION_TOKEN');
  const { route, pathParameters } = found;
  if ('requestTemplates' in route.integration) return mockAnswer(template, route.integration, request);
  const { resource } = route;
  const event = proxyEvent(request, body, target, ids, { ...template, resource, pathParameters });
  if (sizeOf(event) > MAX_PAYLOAD_BYTES) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
  return functionAnswer(deployment, event, route.integration.timeoutMs);
}

/** The body, read to its end so that the caller comes to reading the answer; nothing if it is too large. */
async function readBody(request: ServerRequest): Promise<Buffer | undefined> {
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) chunks = undefined;
    chunks?.push(chunk);
  }
  return chunks && Buffer.concat(chunks);
}

function sizeOf(payload: unknown): number {
  return Buffer.byteLength(JSON.stringify(payload));
}

/** Of several matches the first: the template has its routes from the most specific to the least. */
function findRoute(routes: Route[], method: string, path: string) {
  for (const route of routes) {
    const literal = route.resource.replaceAll('.', '\\.');
    const pattern = literal.replaceAll(/\{(\w+)\+\}/g, '(?<$1>.+)').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    // API Gateway overlooks a slash at the end.
    const match = [method, 'ANY'].includes(route.method) && new RegExp(`^${pattern}/?$`).exec(path);
    if (match) return { route, pathParameters: match.groups ?? null };
  }
  return undefined;
}

/** Source: "Gateway response types for API Gateway". */
export function gatewayResponse({ gatewayResponses }: Template, type: string): Answer {
  const fallback = /TIMEOUT|CONFIGURATION|5XX/.test(type) ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
  const response = gatewayResponses.get(type) ?? gatewayResponses.get(fallback);
  if (!response) throw new Error(`The template has no gateway response ${type} or ${fallback}.`);
  return response;
}

async function functionAnswer(
  { template, invoke }: Deployment,
  event: APIGatewayProxyEvent,
  timeoutMs: number,
): Promise<Answer> {
  try {
    const answer = await Promise.race([invoke(event), sleep(timeoutMs, undefined, { ref: false })]);
    if (answer === undefined) return gatewayResponse(template, 'INTEGRATION_TIMEOUT');
    return proxyAnswer(answer);
  } catch (error) {
    // A function that throws, crashes, times out or answers what is no proxy response is a 502 of the gateway.
    console.error((error as Error).message);
    return gatewayResponse(template, 'DEFAULT_5XX');
  }
}

/** What a function answers as `Date` is `x-amzn-Remapped-Date` ("Amazon API Gateway important notes"), and so on. */
const REMAPPED_HEADERS = [
  'authorization',
  'connection',
  'content-md5',
  'date',
  'max-forwards',
  'server',
  'user-agent',
  'www-authenticate',
];

/** "Output format of a Lambda function for proxy integration". Throws where a function's answer is not of that format. */
function proxyAnswer(response: unknown): Answer {
  if (sizeOf(response) > MAX_PAYLOAD_BYTES) throw new Error("The function's answer is larger than 6 MB.");
  const { statusCode, headers = {}, multiValueHeaders = {}, body = '' } = (response ?? {}) as Partial<ProxyResponse>;
  // After one below 200 the caller would wait for another.
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) {
    throw new Error(`The function answered the statusCode ${statusCode}; it must be an integer from 200 to 599.`);
  }
  if (typeof body !== 'string') throw new Error('The function answered a body that is no string.');
  const several = Object.entries(multiValueHeaders).flatMap(([name, list]) =>
    [list].flat().map((value) => [name, value]),
  );
  const sent: Answer['headers'] = {};
  // The same name in another case is the same header, and both maps are merged.
  const byName = Map.groupBy([...Object.entries(headers), ...several], ([name]) => String(name).toLowerCase());
  for (const [name, named] of byName) {
    const values = named.map(([, value]) => checkedHeader(name, value));
    sent[REMAPPED_HEADERS.includes(name) ? `x-amzn-remapped-${name}` : name] = [...new Set(values)];
  }
  return { statusCode: Number(statusCode), headers: { 'content-type': 'application/json', ...sent }, body };
}

/** What a function answers, of which nothing is certain. */
interface ProxyResponse {
  statusCode: unknown;
  headers: Record<string, unknown>;
  multiValueHeaders: Record<string, unknown>;
  body: unknown;
}

/** A header's value as text. Throws what node:http could not send, and would end the connection for. */
function checkedHeader(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw new Error(`The function answered a header ${name} that is no string, number or boolean.`);
  }
  validateHeaderName(name);
  validateHeaderValue(name, String(value));
  return String(value);
}

/**
 * A mock integration's answer, where its request template and the conversions of bodies let it come
 * to one ("Mock integration for REST APIs", "Content type conversions in API Gateway"), its response
 * template rendered as far as CDK's own use the language ("Mapping template transformations").
 */
function mockAnswer(template: Template, integration: MockIntegration, request: ServerRequest): Answer {
  const mediaType = mediaTypeOf(request) || 'application/json';
  if (!(mediaType in integration.requestTemplates)) {
    // Passed through, the body would have to be a mock's instructions.
    const never = integration.passthroughBehavior === 'never';
    return gatewayResponse(template, never ? 'UNSUPPORTED_MEDIA_TYPE' : 'API_CONFIGURATION_ERROR');
  }
  const response = answerOf(integration.responses.default);
  const isText = [integration, integration.responses.default].every(
    ({ contentHandling }) => contentHandling === 'CONVERT_TO_TEXT',
  );
  if (template.isBinary(mediaType) && !isText) return gatewayResponse(template, 'API_CONFIGURATION_ERROR');
  const overrides: Record<string, string> = {};
  const header = { get: (name: string) => request.headers[name.toLowerCase()] ?? '' };
  const body = render(response.body, {
    input: { params: () => ({ header }) },
    context: { responseOverride: { header: overrides } },
  });
  const overridden = Object.entries(overrides).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...response, headers: { ...response.headers, ...Object.fromEntries(overridden) }, body: body.trim() };
}
