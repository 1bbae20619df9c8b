import { once } from 'node:events';
import { request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { sampleEvent } from '../test/support/event.ts';
import { createGateway } from './gateway.ts';
import { EventTooLarge } from './lambda.ts';
import { gatewayResponse } from './rest-api.ts';
import { type Route, readTemplate, type Template } from './template.ts';

const OK = { statusCode: 200, headers: { 'x-from': 'function' }, body: '{"name":"x"}' };

let server: Server;
let events: APIGatewayProxyEvent[];
let lines: string[];
beforeEach(() => {
  events = [];
  lines = [];
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

/** Serves the synthesized template with changes, and with one handler in place of its functions. */
async function serve(changes: Partial<Template> = {}, handler: () => unknown = () => OK): Promise<void> {
  const template = { ...readTemplate(inject('assembly')), ...changes };
  const invoke = async (event: APIGatewayProxyEvent) => {
    events.push(event);
    return await handler();
  };
  server = createGateway(
    () => ({ template, invoke, close: async () => {} }),
    (line) => lines.push(line),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

const port = () => (server.address() as AddressInfo).port;

async function send(path: string, init: RequestInit = {}) {
  const response = await fetch(`http://127.0.0.1:${port()}${path}`, init);
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  send('/plants', { method: 'POST', body, headers });

/** Sends bytes that no HTTP client would send, and returns the response. */
async function exchange(bytes: string) {
  const socket = connect(port(), '127.0.0.1');
  socket.write(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const [status = '', ...headers] = head.split('\r\n');
  return {
    statusCode: Number(status.split(' ')[1]),
    headers: Object.fromEntries(headers.map((line) => line.toLowerCase().split(': ') as [string, string])),
    body,
  };
}

const toFunction = (method: string, resource: string, timeoutMs = 29_000): Route => ({
  method,
  resource,
  integration: { functionName: 'any', timeoutMs },
});

test('sends the function the event that API Gateway sends', async () => {
  await serve();
  const before = Date.now();
  const request = httpRequest({
    port: port(),
    path: '/plants/?a=1&a=2&b=%20&c=+&d&=e&f=%C3%A9&g=x?y&__proto__=z',
    method: 'POST',
    headers: [
      ['Host', 'plants.example.com'],
      ['X-oDd', 'first'],
      ['X-oDd', 'second'],
      ['User-Agent', 'test'],
      ['Content-Length', '8'],
    ].flat(),
  });
  const [response] = await once(request.end('{"id":1}'), 'response');
  await text(response);
  const [event] = events;
  const sample = sampleEvent('create-plant');
  const headers = {
    Host: 'plants.example.com',
    'User-Agent': 'test',
    'Content-Length': '8',
    'X-Amzn-Trace-Id': expect.stringMatching(/^Root=1-[\da-f]{8}-[\da-f]{24}$/),
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Port': String(port()),
    'X-Forwarded-Proto': 'http',
  };
  const query = { a: '2', b: ' ', c: ' ', d: '', '': 'e', f: 'é', g: 'x?y', ['__proto__']: 'z' };
  const single = (map: object) => Object.fromEntries(Object.entries(map).map(([name, value]) => [name, [value]]));
  // Every member of a recorded event, and no other.
  expect(event).toEqual({
    ...sample,
    path: '/plants/',
    headers: { ...headers, Connection: expect.any(String), 'X-oDd': 'second' },
    multiValueHeaders: { ...single(headers), Connection: [expect.any(String)], 'X-oDd': ['first', 'second'] },
    queryStringParameters: query,
    multiValueQueryStringParameters: { ...single(query), a: ['1', '2'] },
    requestContext: {
      ...sample.requestContext,
      accountId: '000000000000',
      apiId: 'local',
      deploymentId: 'local',
      domainName: 'plants.example.com',
      domainPrefix: 'local',
      identity: { ...sample.requestContext.identity, sourceIp: '127.0.0.1', userAgent: 'test' },
      path: '/v1/plants/',
      resourceId: expect.stringMatching(/^[\da-z]{6}$/),
      requestId: response.headers['x-amzn-requestid'],
      extendedRequestId: response.headers['x-amz-apigw-id'],
      requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      requestTimeEpoch: expect.any(Number),
    },
    body: Buffer.from('{"id":1}').toString('base64'),
    isBase64Encoded: true,
  });
  const { requestTime = '', requestTimeEpoch = 0 } = event?.requestContext ?? {};
  expect(requestTimeEpoch).toBeGreaterThanOrEqual(before);
  expect(requestTimeEpoch).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(requestTime.replace(/^(\d\d)\/(\w+)\/(\d+):/, '$1 $2 $3 '))).toBe(
    1000 * Math.floor(requestTimeEpoch / 1000),
  );
  expect(response.headers['x-amz-apigw-id']).toMatch(/^[\w+/]{15}=$/);
});

test('sends null for absent maps, body and user agent', async () => {
  await serve();
  await exchange('POST /plants HTTP/1.1\r\nconnection: close\r\n\r\n');
  expect(events).toMatchObject([
    {
      body: null,
      isBase64Encoded: false,
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      requestContext: { domainName: 'localhost', identity: { userAgent: null } },
    },
  ]);
});

test.each([
  [true, Buffer.from([0x22, 0xff]).toString('base64')],
  [false, '"\ufffd'],
])('if bodies are binary: %j, sends a body of any bytes as %j', async (hasBinaryBodies, body) => {
  await serve({ hasBinaryBodies });
  await post(new Uint8Array([0x22, 0xff]));
  expect(events).toMatchObject([{ body, isBase64Encoded: hasBinaryBodies }]);
});

test.each([
  ['a/plants', '/a/plants', null],
  ['a/plants/', '/a/plants', null],
  ['a/plants.json', '/a/plants.json', null],
  ['a/plantsXjson', '/a/{id}', { id: 'plantsXjson' }],
  ['a/7/', '/a/{id}', { id: '7' }],
  ['a/7/leaves/8', '/a/{id}/leaves/{leaf}', { id: '7', leaf: '8' }],
  ['a/7/none', '/a/{proxy+}', { proxy: '7/none' }],
  ['b/7/none', '/{proxy+}', { proxy: 'b/7/none' }],
  ['', '/', null],
])('routes /%s to the resource %s', async (path, resource, pathParameters) => {
  const routes = ['/', '/a/plants', '/a/plants.json', '/a/{id}', '/a/{id}/leaves/{leaf}', '/a/{proxy+}', '/{proxy+}'];
  await serve({ routes: routes.map((each) => toFunction('GET', each)) });
  await send(`/${path}`);
  expect(events).toMatchObject([
    { resource, pathParameters, path: `/${path}`, requestContext: { resourcePath: resource, path: `/v1/${path}` } },
  ]);
});

test('routes a request target in absolute form by its path', async () => {
  await serve();
  const { statusCode } = await exchange('POST HTTP://x:1/plants?a=b HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(statusCode).toBe(200);
  expect(events).toMatchObject([{ path: '/plants', queryStringParameters: { a: 'b' } }]);
});

test.each([
  ['GET', '/'],
  ['GET', '/plants'],
  ['PUT', '/none'],
  ['POST', '/plants/none/none'],
  ['POST', '/plants//'],
  ['POST', '/Plants'],
  ['POST', '//plants'],
  ['POST', '/plants%2f'],
])('returns 404 for %s %s, whatever the body is declared as', async (method, path) => {
  await serve();
  for (const contentType of ['', 'application/json', 'application/json; charset=utf-8', 'text/plain', 'image/png']) {
    const body = method === 'GET' ? null : '{"x":1}';
    const headers = { 'content-type': contentType, accept: 'image/png' };
    expect(inContract(await send(path, { method, headers, body }))).toMatchObject({ error: 404 });
  }
  expect(events).toEqual([]);
});

test('returns 404 if the template has no route at all', async () => {
  await serve({ routes: [] });
  expect(inContract(await post('x'))).toMatchObject({ error: 404 });
});

test.each<[string, () => unknown, number]>([
  ['that throws', () => Promise.reject(new Error('inside')), 500],
  ['that gets a larger event than Lambda accepts', () => Promise.reject(new EventTooLarge()), 413],
  ['that is later than the timeout of its integration', () => sleep(500, OK), 504],
  ['that returns null', () => null, 500],
  ['that returns a string', () => 'ok', 500],
  ['that returns no status', () => ({ body: 'ok' }), 500],
  ['that returns a status that is not an integer', () => ({ statusCode: 200.5 }), 500],
  ['that returns a status below 200', () => ({ statusCode: 199 }), 500],
  ['that returns a status above 599', () => ({ statusCode: 600 }), 500],
  ['that returns an object as its body', () => ({ statusCode: 200, body: {} }), 500],
  ['that returns an object as a header', () => ({ statusCode: 200, headers: { 'x-own': {} } }), 500],
  ['that returns a header with a line break', () => ({ statusCode: 200, headers: { 'x-own': 'a\r\nb: c' } }), 500],
  ['that returns a header with a space in its name', () => ({ statusCode: 200, headers: { 'x own': 'a' } }), 500],
])('returns an error in the contract for a function %s', async (_, handler, error) => {
  await serve({ routes: [toFunction('POST', '/plants', 200)] }, handler);
  const response = inContract(await post('x'));
  expect(response).toMatchObject({ error });
  expect(JSON.stringify(response)).not.toContain('inside');
  // The terminal shows the reason.
  expect(vi.mocked(console.error)).toHaveBeenCalledTimes(error === 500 ? 1 : 0);
});

test.each([200, 599])('sends the status %i of a function as JSON without a body', async (statusCode) => {
  await serve({}, () => ({ statusCode }));
  expect(await post('x')).toMatchObject({ statusCode, headers: { 'content-type': 'application/json' }, body: '' });
});

/** "Output format of a Lambda function for proxy integration". */
test('sends a function’s headers of both maps, each value once', async () => {
  await serve({}, () => ({
    statusCode: 200,
    headers: { 'Content-Type': 'text/plain', 'X-Both': 'headers', 'X-Same': 'a', 'X-Number': 1, 'X-Flag': true },
    multiValueHeaders: { 'X-Several': ['b', 'c'], 'x-both': ['multi'], 'x-same': ['a'], 'x-single': 'd' },
  }));
  expect((await post('x')).headers).toMatchObject({
    'content-type': 'text/plain',
    'x-several': 'b, c',
    'x-both': 'headers, multi',
    'x-same': 'a',
    'x-single': 'd',
    'x-number': '1',
    'x-flag': 'true',
  });
});

/** "Amazon API Gateway important notes". */
test('renames the headers of a function that API Gateway renames', async () => {
  const names = ['Authorization', 'Connection', 'Content-MD5', 'Date', 'Max-Forwards', 'Server', 'User-Agent'];
  const renamed = [...names, 'WWW-Authenticate'];
  await serve({}, () => ({ statusCode: 200, headers: Object.fromEntries(renamed.map((name) => [name, 'own'])) }));
  const { headers } = await post('x');
  for (const name of renamed.map((each) => each.toLowerCase())) {
    expect(headers[`x-amzn-remapped-${name}`]).toBe('own');
    expect(headers[name]).not.toBe('own');
  }
});

/** "Gateway response types for API Gateway". */
test.each([
  ['REQUEST_TOO_LARGE', 'DEFAULT_4XX'],
  ['API_CONFIGURATION_ERROR', 'DEFAULT_5XX'],
  ['INTEGRATION_TIMEOUT', 'DEFAULT_5XX'],
])('uses the gateway response %s, else %s, else fails with a sentence', (type, fallback) => {
  const response = (body: string) => ({ statusCode: 400, headers: {}, body });
  const gatewayResponses = new Map([type, fallback].map((each) => [each, response(each)]));
  const template = { ...readTemplate(inject('assembly')), gatewayResponses };
  expect(gatewayResponse(template, type).body).toBe(type);
  gatewayResponses.delete(type);
  expect(gatewayResponse(template, type).body).toBe(fallback);
  gatewayResponses.delete(fallback);
  expect(() => gatewayResponse(template, type)).toThrow(`The template has no gateway response ${type} or ${fallback}.`);
});

const CHUNKS = 'Host: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n';

test.each<[string, string, number, path?: string]>([
  ['something that is not HTTP', '\0\r\n\r\n', 404],
  ['a header without a name', 'POST /plants HTTP/1.1\r\n: x\r\n\r\n', 400],
  ['a length that is not a number', 'POST /plants HTTP/1.1\r\nContent-Length: x\r\n\r\n', 400],
  ['an invalid chunk', `POST /plants HTTP/1.1\r\n${CHUNKS}`, 400],
  ['a path of 10 KB', `POST /${'x'.repeat(10_240)} HTTP/1.1\r\nHost: x\r\n\r\n`, 413],
  ['an unknown method', 'PLANT /trees HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  ['a method in lower case', 'post /plants HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 404],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404, '*'],
  ['an expectation', 'GET /trees HTTP/1.1\r\nHost: x\r\nExpect: x\r\nConnection: close\r\n\r\n', 404, '/trees'],
])('responds to %s with the usual headers and logs it', async (_, bytes, error, path = '-') => {
  await serve();
  const response = await exchange(bytes);
  expect(inContract(response)).toMatchObject({ error });
  const names = (headers: object) =>
    Object.keys(headers).filter((name) => !/^(connection|keep-alive|date)$/.test(name));
  expect(names(response.headers).toSorted()).toEqual(names((await send('/none')).headers).toSorted());
  expect(lines[0]).toContain(`${path}  400  ${error}  `);
});

test('responds in the contract to bytes that are not HTTP behind a request in progress', async () => {
  await serve({}, () => sleep(50, OK));
  const response = await exchange('POST /plants HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE');
  expect(inContract(response)).toMatchObject({ error: 404 });
  expect(await post('x')).toMatchObject({ statusCode: 200 });
});

test('reads 10,240 bytes of address and headers', async () => {
  await serve();
  const counted = ['/plants', 'connection', 'close', 'x-other'].join('').length;
  const other = 'x'.repeat(10_240 - counted);
  const { body } = await exchange(`POST /plants HTTP/1.1\r\nconnection: close\r\nx-other: ${other}\r\n\r\n`);
  expect(body).toBe(OK.body);
});

test('reads a body of 10 MB, and rejects a larger one in plain text as API Gateway does', async () => {
  await serve();
  const body = Buffer.alloc(10 * 1024 * 1024, 'x');
  expect(await post(body)).toMatchObject({ statusCode: 200 });
  for (const path of ['/plants', '/none']) {
    const response = await send(path, { method: 'POST', body: Buffer.concat([body, Buffer.from('x')]) });
    expect(Object.keys(response.headers).filter((name) => /^(access-control|x-amz)/.test(name))).toEqual([]);
    expect(response).toMatchObject({
      statusCode: 413,
      headers: { 'content-type': 'text/plain' },
      body: 'HTTP content length exceeded 10485760 bytes.',
    });
  }
});

test('logs method, path, status, error and duration of each response', async () => {
  await serve();
  await send('/nowhere?token=secret', { method: 'PATCH' });
  await post('x');
  expect(lines).toEqual([
    expect.stringMatching(/^PATCH {2}\/nowhere {2}400 {2}404 {2}\d+\.\d ms$/),
    expect.stringMatching(/^POST {2}\/plants {2}200 {2}- {2}\d+\.\d ms$/),
  ]);
});

test('logs nothing for a client that has disconnected, and serves the next one', async () => {
  await serve({}, () => sleep(50, OK));
  const socket = connect(port(), '127.0.0.1');
  await new Promise((resolve) => socket.write('POST /plants HTTP/1.1\r\nHost: x\r\n\r\n', resolve));
  socket.destroy();
  await post('x');
  expect(lines).toHaveLength(1);
});
