import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { createGateway } from './gateway.ts';
import { gatewayResponse } from './rest-api.ts';
import { type Answer, type MockIntegration, type Route, readTemplate, type Template } from './template.ts';

/** What API Gateway makes by itself ("Gateway response types for API Gateway"), each recognised by its body. */
const GATEWAY_RESPONSES = new Map(
  [
    'MISSING_AUTHENTICATION_TOKEN',
    'REQUEST_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'API_CONFIGURATION_ERROR',
    'INTEGRATION_TIMEOUT',
    'DEFAULT_4XX',
    'DEFAULT_5XX',
  ].map((type): [string, Answer] => [type, { statusCode: 400, headers: {}, body: type }]),
);

const toFunction = (method: string, resource: string, timeoutMs = 29_000): Route => ({
  method,
  resource,
  integration: { functionName: 'any', timeoutMs },
});

/** Answers the header `origin`, and sets headers of its own. */
const MOCK = {
  method: 'ANY',
  resource: '/plants',
  integration: {
    type: 'mock',
    requestTemplates: { 'application/json': '{"statusCode":202}' },
    passthroughBehavior: 'never',
    contentHandling: 'CONVERT_TO_TEXT',
    responses: {
      default: {
        statusCode: '202',
        contentHandling: 'CONVERT_TO_TEXT',
        responseParameters: { 'method.response.header.X-Plain': "'plain'", 'method.response.header.X-Own': "'plain'" },
        responseTemplates: {
          'application/json': `#set($origin = $input.params().header.get("Origin"))
            #set($context.responseOverride.header.X-Own = $origin)
            $origin `,
        },
      },
    },
  } satisfies MockIntegration,
};

let server: Server;
let events: APIGatewayProxyEvent[];
beforeEach(() => {
  events = [];
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

const OK = { statusCode: 200, headers: {}, body: 'the function' };

/** Serves a template in which a function answers whatever it is made to. */
async function serve(changes: Partial<Template>, answer: () => unknown = () => OK): Promise<void> {
  const template = { ...readTemplate(inject('assembly')), gatewayResponses: GATEWAY_RESPONSES, ...changes };
  const invoke = async (event: APIGatewayProxyEvent) => {
    events.push(event);
    return answer();
  };
  server = createGateway(
    () => ({ template, invoke, close: async () => {} }),
    () => {},
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

const port = () => (server.address() as AddressInfo).port;
const send = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port()}${path}`, init);
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  send('/plants', { method: 'POST', body, headers });
const said = async (response: Promise<Response>) => (await response).text();

test('a body of 10 MB is read', async () => {
  const { routes } = readTemplate(inject('assembly'));
  await serve({ routes: routes.filter(({ integration }) => 'responses' in integration) });
  const body = Buffer.alloc(10 * 1024 * 1024, 'x');
  expect(JSON.parse(await said(send('/none', { method: 'POST', body })))).toMatchObject({ error: 404 });
});

test.each([
  ['a function', '/plants'],
  ['a mock', '/mock'],
  ['no route', '/none'],
])('a larger body to %s is rejected in plain text, without a CORS header or a request id', async (_, path) => {
  await serve({ routes: [toFunction('POST', '/plants'), { ...MOCK, resource: '/mock' }] });
  const response = await send(path, { method: 'POST', body: Buffer.alloc(10 * 1024 * 1024 + 1, 'x') });
  expect(response.status).toBe(413);
  expect(await response.text()).toBe('HTTP content length exceeded 10485760 bytes.');
  const headers = [...response.headers.keys()].filter((name) => /^(access-control|x-amz|content-type)/.test(name));
  expect(headers).toEqual(['content-type']);
  expect(response.headers.get('content-type')).toBe('text/plain');
});

/** "Lambda quotas" has the same bound for both. */
test('an answer of 6 MB, as JSON in UTF-8, reaches the caller, and one of a byte more does not', async () => {
  const around = Buffer.byteLength(JSON.stringify({ statusCode: 200, body: 'é' }));
  let size = 6 * 1024 * 1024;
  await serve({}, () => ({ statusCode: 200, body: `é${'x'.repeat(size - around)}` }));
  expect(await said(post('x'))).toMatch(/^éx+$/);
  size += 1;
  expect(await said(post('x'))).toBe('DEFAULT_5XX');
});

test('an event of 6 MB, as JSON in UTF-8, reaches the function, and one of a byte more does not', async () => {
  await serve({});
  // The user agent stands in an event three times, any other header twice.
  const body = Buffer.alloc(4.49 * 1024 * 1024, 'x');
  const sent = (agent: number, other: number) =>
    said(post(body, { 'user-agent': 'a'.repeat(agent), 'x-other': 'é'.repeat(other) }));
  const size = () => Buffer.byteLength(JSON.stringify(events.at(-1)));
  await sent(1, 1);
  const missing = 6 * 1024 * 1024 - size();
  // An é is two bytes in UTF-8, and is sent as one; it is four bytes more in the event.
  const agent = 1 + ((3 * missing) % 4);
  const other = 1 + (missing - 3 * (agent - 1)) / 4;
  expect(await sent(agent, other)).toBe('the function');
  expect(size()).toBe(6 * 1024 * 1024);
  expect(await sent(agent + 3, other - 2)).toBe('REQUEST_TOO_LARGE');
});

/** As node:http counts: the address, and the headers' names and values. */
test('10,240 bytes of address and headers are read, and one more is too large', async () => {
  await serve({});
  const answer = async (bytes: number) => {
    const counted = ['/plants', 'connection', 'close', 'x-other'].join('').length;
    const socket = connect(port(), '127.0.0.1');
    socket.write(`POST /plants HTTP/1.1\r\nconnection: close\r\nx-other: ${'x'.repeat(bytes - counted)}\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    return text.split('\r\n\r\n')[1];
  };
  expect(await answer(10_240)).toBe('the function');
  expect(await answer(10_241)).toBe('REQUEST_TOO_LARGE');
});

test.each([
  ['is as late as its integration allows', 5000, 200, 'the function'],
  ['is later than that', 100, 400, 'INTEGRATION_TIMEOUT'],
])('an answer that %s', async (_, timeoutMs, afterMs, body) => {
  await serve({ routes: [toFunction('POST', '/plants', timeoutMs)] }, () => sleep(afterMs, OK));
  expect(await said(post('x'))).toBe(body);
});

test.each([
  ['a/plants', '/a/plants', null],
  ['a/plants/', '/a/plants', null],
  ['a/plants.json', '/a/plants.json', null],
  ['a/plantsXjson', '/a/{id}', { id: 'plantsXjson' }],
  ['a/7', '/a/{id}', { id: '7' }],
  ['a/7/', '/a/{id}', { id: '7' }],
  ['a/7/leaves/8', '/a/{id}/leaves/{leaf}', { id: '7', leaf: '8' }],
  ['a/7/none', '/a/{proxy+}', { proxy: '7/none' }],
  ['b/7/none', '/{proxy+}', { proxy: 'b/7/none' }],
  ['', '/', null],
])('/%s is the resource %s', async (path, resource, pathParameters) => {
  const routes = ['/', '/a/plants', '/a/plants.json', '/a/{id}', '/a/{id}/leaves/{leaf}', '/a/{proxy+}', '/{proxy+}'];
  await serve({ routes: routes.map((each) => toFunction('GET', each)) });
  await send(`/${path}`);
  expect(events).toMatchObject([
    { resource, pathParameters, path: `/${path}`, requestContext: { resourcePath: resource, path: `/v1/${path}` } },
  ]);
});

test.each([
  ['GET', '/plants', 'the function'],
  ['DELETE', '/any', 'the function'],
  ['DELETE', '/plants', 'MISSING_AUTHENTICATION_TOKEN'],
  ['GET', '/plant', 'MISSING_AUTHENTICATION_TOKEN'],
  ['GET', '/plants/x', 'MISSING_AUTHENTICATION_TOKEN'],
  ['GET', '/x/plants', 'MISSING_AUTHENTICATION_TOKEN'],
  ['GET', '/plants//', 'MISSING_AUTHENTICATION_TOKEN'],
])('%s %s is answered by %s', async (method, path, body) => {
  await serve({ routes: [toFunction('GET', '/plants'), toFunction('ANY', '/any')] });
  expect(await said(send(path, { method }))).toBe(body);
});

test('a method of its own goes before any method', async () => {
  await serve({ routes: [toFunction('POST', '/plants'), MOCK] });
  expect(await said(post('x', { 'content-type': 'application/json' }))).toBe('the function');
  expect(await said(send('/plants', { headers: { origin: 'any' } }))).toBe('any');
});

test.each([
  ['null', null],
  ['a string', 'ok'],
  ['a list', []],
  ['no status', { body: 'ok' }],
  ['a status that is no number', { statusCode: 'ok' }],
  ['a status that is no integer', { statusCode: 200.5 }],
  ['a status below 200', { statusCode: 199 }],
  ['a status above 599', { statusCode: 600 }],
  ['an object as its body', { statusCode: 200, body: {} }],
  ['a header that is an object', { statusCode: 200, headers: { 'x-own': {} } }],
  ['a header that is a line break', { statusCode: 200, headers: { 'x-own': 'a\r\nb: c' } }],
  ['a header whose name is none', { statusCode: 200, headers: { 'x own': 'a' } }],
  ['several values that are no list', { statusCode: 200, multiValueHeaders: { 'x-own': {} } }],
])('a function that answers %s fails as DEFAULT_5XX, and the terminal shows a sentence', async (_, answer) => {
  await serve({}, () => answer);
  expect(await said(post('x'))).toBe('DEFAULT_5XX');
  expect(console.error).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/function answered|header/i));
});

test('what a function throws is shown on the terminal alone', async () => {
  await serve({}, () => {
    throw new Error('inside');
  });
  expect(await said(post('x'))).toBe('DEFAULT_5XX');
  expect(console.error).toHaveBeenCalledExactlyOnceWith('inside');
});

test.each([200, 599])('a status alone (%i) is an answer, of JSON', async (statusCode) => {
  await serve({}, () => ({ statusCode }));
  const response = await post('x');
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    statusCode,
    'application/json',
    '',
  ]);
});

/** As "Output format of a Lambda function for proxy integration" has it. */
test('a function’s headers are sent, those of both maps as one list, in whatever case, a pair in both once', async () => {
  await serve({}, () => ({
    statusCode: 200,
    headers: { 'Content-Type': 'text/plain', 'X-Both': 'headers', 'X-Same': 'a', 'X-Number': 1, 'X-Flag': true },
    multiValueHeaders: { 'X-Several': ['b', 'c'], 'x-both': ['multi'], 'x-same': ['a'], 'x-single': 'd' },
  }));
  const { headers } = await post('x');
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/plain',
    'x-several': 'b, c',
    'x-both': 'headers, multi',
    'x-same': 'a',
    'x-single': 'd',
    'x-number': '1',
    'x-flag': 'true',
  });
});

/** As "Amazon API Gateway important notes" has them. */
test.each([
  'Authorization',
  'Connection',
  'Content-MD5',
  'Date',
  'Max-Forwards',
  'Server',
  'User-Agent',
  'WWW-Authenticate',
])('a function’s header %s is renamed', async (name) => {
  await serve({}, () => ({ statusCode: 200, headers: { [name]: 'own' } }));
  const { headers } = await post('x');
  expect(headers.get(`x-amzn-Remapped-${name}`)).toBe('own');
  expect(headers.get(name)).not.toBe('own');
});

/** As "Gateway response types for API Gateway" has it. */
test.each([
  ['REQUEST_TOO_LARGE', 'DEFAULT_4XX'],
  ['UNSUPPORTED_MEDIA_TYPE', 'DEFAULT_4XX'],
  ['MISSING_AUTHENTICATION_TOKEN', 'DEFAULT_4XX'],
  ['API_CONFIGURATION_ERROR', 'DEFAULT_5XX'],
  ['INTEGRATION_TIMEOUT', 'DEFAULT_5XX'],
])('without a gateway response %s, it is %s, and without either a sentence', (type, fallback) => {
  const template = { ...readTemplate(inject('assembly')), gatewayResponses: new Map(GATEWAY_RESPONSES) };
  expect(gatewayResponse(template, type).body).toBe(type);
  template.gatewayResponses.delete(type);
  expect(gatewayResponse(template, type).body).toBe(fallback);
  template.gatewayResponses.delete(fallback);
  expect(() => gatewayResponse(template, type)).toThrow(`The template has no gateway response ${type} or ${fallback}.`);
});

test.each<[string, string, Partial<MockIntegration>, string]>([
  ['its media type', 'application/json', {}, 'at /plants'],
  ['its media type with parameters and in capitals', 'Application/JSON ; charset=utf-8', {}, 'at /plants'],
  ['no media type', '', {}, 'at /plants'],
  ['a media type of which it has no template', 'text/plain', {}, 'UNSUPPORTED_MEDIA_TYPE'],
  ['one that it passes through', 'text/plain', { passthroughBehavior: 'when_no_match' }, 'API_CONFIGURATION_ERROR'],
  ['bytes that it does not convert', 'application/json', { contentHandling: undefined }, 'API_CONFIGURATION_ERROR'],
])('a mock integration that is sent %s', async (_, contentType, change, body) => {
  await serve({ routes: [{ ...MOCK, integration: { ...MOCK.integration, ...change } }] });
  expect(await said(post(Buffer.from('{}'), { 'content-type': contentType, origin: 'at /plants' }))).toBe(body);
});

test('a mock integration whose answer is of bytes fails, and not where no media type is of bytes', async () => {
  const responses = { default: { ...MOCK.integration.responses.default, contentHandling: undefined } };
  const integration = { ...MOCK.integration, responses };
  const routes = [{ ...MOCK, integration }];
  const changes: Partial<Template> = { routes };
  await serve(changes);
  expect(await said(post('x', { 'content-type': 'application/json' }))).toBe('API_CONFIGURATION_ERROR');
  server.close();
  await serve({ ...changes, isBinary: () => false });
  expect(await said(post('x', { 'content-type': 'application/json' }))).toBe('');
});

test('a mock integration’s template reads the request’s headers and sets the answer’s', async () => {
  await serve({ routes: [MOCK] });
  const response = await post('x', { 'content-type': 'application/json', origin: 'here' });
  expect([response.status, await response.text()]).toEqual([202, 'here']);
  expect(Object.fromEntries(response.headers)).toMatchObject({ 'x-plain': 'plain', 'x-own': 'here' });
});

test.each([
  ['00000000-0000-4000-8000-00000000000a', true],
  ['00000000-0000-4000-8000-00000000000A', true],
  ['00000000-0000-4000-8000-00000000000g', false],
  ['00000000-0000-4000-8000-0000000000000', false],
  ['x00000000-0000-4000-8000-000000000000', false],
  ['', false],
])('of a request id %j, that the caller chooses it is %j', async (chosen, taken) => {
  await serve({});
  const { headers } = await post('x', { 'x-amzn-requestid': chosen });
  expect(headers.get('x-amzn-requestid') === chosen).toBe(taken);
  expect(headers.get('x-amzn-requestid')).toMatch(/^[\da-f-]{36}$/i);
  expect(headers.get('x-amz-apigw-id')).toMatch(/^[\w+/]{15}=$/);
  expect(events[0]?.requestContext.requestId).toBe(headers.get('x-amzn-requestid'));
});

test('an event of a request without host or user agent says so, and a body that is not of bytes is text', async () => {
  await serve({ isBinary: () => false });
  const socket = connect(port(), '127.0.0.1');
  socket.write('POST /plants HTTP/1.1\r\nconnection: close\r\ncontent-length: 2\r\n\r\né');
  await once(socket.resume(), 'close');
  expect(events).toMatchObject([
    { body: 'é', isBase64Encoded: false, requestContext: { domainName: 'localhost', identity: { userAgent: null } } },
  ]);
});
