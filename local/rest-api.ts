import { validateHeaderName, validateHeaderValue } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { render } from 'velocityjs';
import type { Deployment } from './deploy.ts';
import { createEvent, type GatewayRequest } from './event.ts';
import { EventTooLarge } from './lambda.ts';
import type { GatewayResponse, MockIntegration, Route, Template } from './template.ts';

/** Returns what the deployed REST API responds with: the response of the route's integration, or a gateway response. */
export async function respond(deployment: Deployment, request: GatewayRequest): Promise<GatewayResponse> {
  const { template } = deployment;
  const match = findRoute(template.routes, request);
  if (!match) return gatewayResponse(template, 'MISSING_AUTHENTICATION_TOKEN');
  const { integration } = match;
  if ('mediaTypes' in integration) return mockResponse(template, integration, request);
  try {
    const late = sleep(integration.timeoutMs, gatewayResponse(template, 'INTEGRATION_TIMEOUT'), { ref: false });
    return await Promise.race([deployment.invoke(createEvent(request, template, match)).then(toGatewayResponse), late]);
  } catch (error) {
    if (error instanceof EventTooLarge) return gatewayResponse(template, 'REQUEST_TOO_LARGE');
    // For API Gateway, a function that fails or returns an invalid response is a 502.
    console.error((error as Error).message);
    return gatewayResponse(template, 'DEFAULT_5XX');
  }
}

/** Returns the first matching route: the template's routes begin with the most specific one. */
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

/** Source: "Gateway response types for API Gateway". */
export function gatewayResponse({ gatewayResponses }: Template, type: string): GatewayResponse {
  const fallback = /TIMEOUT|CONFIGURATION|5XX/.test(type) ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
  const response = gatewayResponses.get(type) ?? gatewayResponses.get(fallback);
  if (!response) throw new Error(`The template has no gateway response ${type} or ${fallback}.`);
  return response;
}

/** API Gateway sends a function's header `Date` as `x-amzn-Remapped-Date` ("Amazon API Gateway important notes"), etc. */
const REMAPPED_HEADER = /^(authorization|connection|content-md5|date|max-forwards|server|user-agent|www-authenticate)$/;

/** A function's response before it is checked. */
interface ProxyResponse {
  statusCode?: unknown;
  headers?: Record<string, unknown>;
  multiValueHeaders?: Record<string, unknown>;
  body?: unknown;
}

/**
 * Source: "Output format of a Lambda function for proxy integration".
 *
 * @throws if the response does not have that format, or if node:http cannot send it
 */
function toGatewayResponse(response: unknown): GatewayResponse {
  const { statusCode, headers, multiValueHeaders, body = '' } = (response ?? {}) as ProxyResponse;
  // After a status below 200, the client would wait for another response.
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) {
    throw new Error(`The function returned the statusCode ${statusCode}; it must be an integer from 200 to 599.`);
  }
  if (typeof body !== 'string') throw new Error(`The function returned a body of type ${typeof body}, not a string.`);
  const sent: GatewayResponse['headers'] = { 'content-type': 'application/json' };
  const entries = [...Object.entries(headers ?? {}), ...Object.entries(multiValueHeaders ?? {})];
  for (const [name, group] of Map.groupBy(entries, ([name]) => name.toLowerCase())) {
    const values = group.flatMap(([, value]) => value).map((value) => headerValue(name, value));
    sent[REMAPPED_HEADER.test(name) ? `x-amzn-remapped-${name}` : name] = [...new Set(values)];
  }
  return { statusCode: Number(statusCode), headers: sent, body };
}

function headerValue(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw new Error(`The function returned a header ${name} that is not a string, number or boolean.`);
  }
  validateHeaderName(name);
  validateHeaderValue(name, String(value));
  return String(value);
}

/** Renders a mock integration's response template ("Mapping template transformations"), as far as CDK uses it. */
function mockResponse(template: Template, mock: MockIntegration, request: GatewayRequest): GatewayResponse {
  const { headers: sent } = request.message;
  const mediaType = (sent['content-type'] || 'application/json').replace(/;.*/s, '').trim().toLowerCase();
  if (!mock.mediaTypes.includes(mediaType)) {
    return gatewayResponse(template, 'UNSUPPORTED_MEDIA_TYPE');
  }
  const overrides: Record<string, string> = {};
  const header = { get: (name: string) => sent[name.toLowerCase()] ?? '' };
  const body = render(mock.response.body, {
    input: { params: () => ({ header }) },
    context: { responseOverride: { header: overrides } },
  });
  const overridden = Object.entries(overrides).map(([name, value]) => [name.toLowerCase(), value]);
  const headers = { ...mock.response.headers, ...Object.fromEntries(overridden) };
  return { ...mock.response, headers, body: body.trim() };
}
