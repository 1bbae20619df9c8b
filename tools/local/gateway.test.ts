import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sharedTemplate } from '../../test/support/assembly.ts';
import { contractBody } from '../../test/support/contract.ts';
import { sampleEvent } from '../../test/support/event.ts';
import { listen } from '../../test/support/listen.ts';
import { createGateway } from './gateway.ts';
import type { Route, Template } from './template.ts';

const OK = { statusCode: 200, headers: { 'x-from': 'function' }, body: '{"name":"x"}' };

let server: Server;
let port: number;
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

/** Serves the synthesized template with changes. The handler replaces all of its functions. */
async function serve(changes: Partial<Template> = {}, handler: () => unknown = () => OK): Promise<void> {
  const template = { ...(await sharedTemplate()), ...changes };
  const invoke = async (event: APIGatewayProxyEvent) => {
    events.push(event);
    return await handler();
  };
  const gateway = createGateway(
    () => ({ template, invoke }),
    (line) => lines.push(line),
  );
  server = createServer(gateway);
  port = Number((await listen(server)).split(':')[1]);
}

async function send(path: string, init: RequestInit = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  send('/plants', { method: 'POST', body, headers });

/** Sends a request that fetch cannot send. Returns the response's status line, headers and body. */
async function sendBytes(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return await text(socket);
}

const functionRoute = (method: string, resource: string): Route => ({
  method,
  resource,
  integration: { functionName: 'any' },
});

test('invokes the function with the event of API Gateway', async () => {
  await serve();
  const before = Date.now();
  const request = httpRequest({
    port,
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
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
  };
  const query = { a: '2', b: ' ', c: ' ', d: '', '': 'e', f: 'é', g: 'x?y', ['__proto__']: 'z' };
  const single = (map: object) => Object.fromEntries(Object.entries(map).map(([name, value]) => [name, [value]]));
  // Exactly the members of a sample event.
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

test('uses null for a missing map, body or user agent', async () => {
  await serve();
  await sendBytes('POST /plants HTTP/1.0\r\n\r\n');
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
  await serve({ routes: routes.map((each) => functionRoute('GET', each)) });
  await send(`/${path}`);
  expect(events).toMatchObject([
    { resource, pathParameters, path: `/${path}`, requestContext: { resourcePath: resource, path: `/v1/${path}` } },
  ]);
});

test.each([
  ['GET', '/'],
  ['PUT', '/plants'],
  ['PUT', '/none'],
  ['POST', '/plants/none/none'],
  ['POST', '/plants//'],
  ['POST', '/Plants'],
  ['POST', '//plants'],
  ['POST', '/plants%2f'],
])('returns error 404 for %s %s with any Content-Type', async (method, path) => {
  await serve();
  for (const contentType of ['', 'application/json', 'application/json; charset=utf-8', 'text/plain', 'image/png']) {
    const body = method === 'GET' ? null : '{"x":1}';
    const headers = { 'content-type': contentType, accept: 'image/png' };
    expect(contractBody(await send(path, { method, headers, body }))).toMatchObject({ error: 404 });
  }
  expect(events).toEqual([]);
});

test('returns error 404 if the template has no routes', async () => {
  await serve({ routes: [] });
  expect(contractBody(await post('x'))).toMatchObject({ error: 404 });
});

test.each<[string, () => unknown]>([
  ['that throws', () => Promise.reject(new Error('inside'))],
  ['that returns null', () => null],
  ['that returns a header with a line break', () => ({ statusCode: 200, headers: { 'x-own': 'a\r\nb: c' } })],
])('returns error 500 for a function %s', async (_, handler) => {
  await serve({}, handler);
  const response = contractBody(await post('x'));
  expect(response).toMatchObject({ error: 500 });
  expect(JSON.stringify(response)).not.toContain('inside');
  // The reason is printed to the terminal.
  expect(vi.mocked(console.error)).toHaveBeenCalledOnce();
});

test('sends an empty JSON response for a function that returns only a status', async () => {
  await serve({}, () => ({ statusCode: 599 }));
  const headers = { 'content-type': 'application/json' };
  expect(await post('x')).toMatchObject({ statusCode: 599, headers, body: '' });
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

test('accepts 10,240 bytes of URL and headers, and rejects one more', async () => {
  await serve();
  const counted = ['/plants', 'x-other'].join('').length;
  const withBytes = (bytes: number) =>
    sendBytes(`POST /plants HTTP/1.0\r\nx-other: ${'x'.repeat(bytes - counted)}\r\n\r\n`);
  expect(await withBytes(10_240)).toContain(OK.body);
  expect(await withBytes(10_241)).toContain('{"error":413,');
});

test('accepts a body of 10 MB, and rejects a larger one with API Gateway’s plain text', async () => {
  await serve();
  const body = Buffer.alloc(10 * 1024 * 1024, 'x');
  expect(await post(body)).toMatchObject({ statusCode: 200 });
  expect(await post(Buffer.concat([body, Buffer.from('x')]))).toMatchObject({
    statusCode: 413,
    headers: { 'content-type': 'text/plain' },
    body: 'HTTP content length exceeded 10485760 bytes.',
  });
});

test('logs the method, path, status, error and duration of each response', async () => {
  await serve();
  await send('/nowhere?token=secret', { method: 'PATCH' });
  await post('x');
  expect(lines).toEqual([
    expect.stringMatching(/^PATCH {2}\/nowhere {2}400 {2}404 {2}\d+\.\d ms$/),
    expect.stringMatching(/^POST {2}\/plants {2}200 {2}- {2}\d+\.\d ms$/),
  ]);
});

test('prints why it cannot respond, and closes the connection', async () => {
  await serve({ routes: [], gatewayResponses: new Map() });
  await expect(send('/nowhere')).rejects.toThrow('fetch failed');
  const message = 'The template has no gateway response MISSING_AUTHENTICATION_TOKEN.';
  expect(console.error).toHaveBeenCalledWith(message);
});

test('keeps running if a client disconnects while it sends its body', async () => {
  await serve();
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
  await sleep(50);
  socket.resetAndDestroy();
  expect(await post('x')).toMatchObject({ statusCode: 200 });
});
