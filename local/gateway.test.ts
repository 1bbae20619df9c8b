import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { sampleEvent } from '../test/support/event.ts';
import { type Deployment, deploy } from './deploy.ts';
import { type AccessLine, createGateway } from './gateway.ts';
import { readTemplate } from './template.ts';

let server: Server;
let deployment: Deployment;
let lines: AccessLine[];

/** By handler, each deployed once: a worker takes its time to start. */
const deployments = new Map<string, Deployment & { assembly: string }>();

/** Serves the synthesized template with another handler in its bundle's place. */
async function serve(handler: string): Promise<void> {
  const deployed = deployments.get(handler) ?? (await deployHandler(handler));
  deployments.set(handler, deployed);
  // Read anew, since a test may change it.
  deployment = { ...deployed, template: readTemplate(deployed.assembly) };
  server = createGateway(
    () => deployment,
    (line) => lines.push(line),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function deployHandler(handler: string) {
  const assembly = mkdtempSync(join(tmpdir(), 'plant-store-'));
  cpSync(inject('assembly'), assembly, { recursive: true });
  const template = readTemplate(assembly);
  for (const lambda of template.functions) {
    writeFileSync(join(lambda.assetDirectory, 'index.mjs'), `export const handler = ${handler};`);
    lambda.timeoutSeconds = 1;
  }
  return { assembly, ...(await deploy(template, { endpoint: 'http://127.0.0.1:9' }, () => {})) };
}

afterAll(async () => {
  for (const { assembly, close } of deployments.values()) {
    await close();
    rmSync(assembly, { recursive: true });
  }
});

const ECHO = 'async (event) => ({ statusCode: 200, headers: { "x-from": "handler" }, body: JSON.stringify(event) })';

beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;
const address = () => `http://127.0.0.1:${port()}`;

async function send(path: string, init: RequestInit = {}) {
  const response = await fetch(address() + path, init);
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
const post = (body: string) => send('/plants', { method: 'POST', body });

/** The bytes that come back for bytes that no HTTP client would send. */
async function bytesFor(bytes: string): Promise<string> {
  const socket = connect(port(), '127.0.0.1');
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

async function exchange(bytes: string): Promise<{ statusCode: number; headers: Record<string, string>; body: string }> {
  const text = await bytesFor(bytes);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [status = '', ...headers] = head.split('\r\n');
  return {
    statusCode: Number(status.split(' ')[1]),
    headers: Object.fromEntries(headers.map((line) => line.toLowerCase().split(': ') as [string, string])),
    body,
  };
}

test('the event is one that API Gateway sends', async () => {
  await serve(ECHO);
  const before = Date.now();
  const { body } = await new Promise<{ body: string }>((resolve, reject) => {
    const request = httpRequest(
      `${address()}/plants/?a=1&a=2&b=%20&c=+&d&=e&f=%C3%A9&g=x?y&__proto__=z`,
      {
        method: 'POST',
        headers: [
          ['Host', 'plants.example.com'],
          ['X-oDd', 'first'],
          ['X-oDd', 'second'],
          ['User-Agent', 'test'],
          ['Content-Length', '8'],
        ].flat(),
      },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ body: text });
      },
    );
    request.on('error', reject).end('{"id":1}');
  });
  const event: APIGatewayProxyEvent = JSON.parse(body);
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
  const { requestContext } = event;
  const { requestTimeEpoch } = requestContext;
  // Every member that a recorded event has, and no other; what differs is spelled out.
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
      requestId: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
      extendedRequestId: expect.stringMatching(/^[\w+/]{15}=$/),
      requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      requestTimeEpoch: expect.any(Number),
    },
    body: Buffer.from('{"id":1}').toString('base64'),
    isBase64Encoded: true,
  });
  expect(requestTimeEpoch).toBeGreaterThanOrEqual(before);
  expect(requestTimeEpoch).toBeLessThanOrEqual(Date.now());
  const told = requestContext.requestTime?.replace(/^(\d\d)\/(\w+)\/(\d+):/, '$1 $2 $3 ') ?? '';
  expect(Date.parse(told)).toBe(1000 * Math.floor(requestTimeEpoch / 1000));
  const traced = event.headers['X-Amzn-Trace-Id']?.slice(7, 15) ?? '';
  expect(Number.parseInt(traced, 16)).toBe(Math.floor(requestTimeEpoch / 1000));
});

test.each(['application/json', 'Application/JSON ; charset=utf-8', 'application/vnd.api+json', 'text/plain', ''])(
  'a body declared as %j reaches the function as base64, byte for byte',
  async (contentType) => {
    await serve(ECHO);
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    const { body } = await send('/plants', { method: 'POST', headers: { 'content-type': contentType }, body: bytes });
    expect(JSON.parse(body)).toMatchObject({ body: bytes.toString('base64'), isBase64Encoded: true });
  },
);

test('absent maps and an absent body are null', async () => {
  await serve(ECHO);
  const { body, headers } = await send('/plants', { method: 'POST' });
  const event: APIGatewayProxyEvent = JSON.parse(body);
  expect(event).toMatchObject({
    body: null,
    isBase64Encoded: false,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
  });
  const { requestId, extendedRequestId } = event.requestContext;
  expect(headers).toMatchObject({
    'x-from': 'handler',
    'x-amzn-requestid': requestId,
    'x-amz-apigw-id': extendedRequestId,
  });
});

test.each([
  ['GET', '/'],
  ['PUT', '/none'],
  ['POST', '/'],
  ['POST', '/plants/none/none'],
  ['POST', '/Plants'],
  ['POST', '//plants'],
  ['POST', '/plants%2f'],
  ['DELETE', '/plant.'],
])('%s %s, which is no route, is a 404', async (method, path) => {
  await serve(ECHO);
  expect(inContract(await send(path, { method }))).toMatchObject({ error: 404 });
});

test.each([
  ['throws', 'async () => { throw new Error("inside") }'],
  ['throws synchronously', '() => { throw "inside" }'],
  ['exits', 'async () => process.exit(1)'],
  ['is late', 'async () => new Promise(() => setTimeout(() => {}, 60_000))'],
  ['never yields', 'async () => { for (;;); }'],
  ['leaves a rejection unhandled', 'async () => { Promise.reject(new Error("inside")); return new Promise(() => {}) }'],
  ['answers nothing', 'async () => undefined'],
  ['answers a string', 'async () => "ok"'],
  ['answers without a status', 'async () => ({ body: "ok" })'],
  ['answers an object as its body', 'async () => ({ statusCode: 200, body: {} })'],
  ['answers what JSON cannot hold', 'async () => ({ statusCode: 200, body: "", id: 1n })'],
])('a function that %s is a 500 of the gateway, and the next request is served', async (_, handler) => {
  await serve(`(event) => event.body === btoa("well") ? ${ECHO.replace('async (event) =>', '')} : (${handler})(event)`);
  const answer = inContract(await post('ill'));
  expect(answer).toMatchObject({ error: 500 });
  expect(JSON.stringify(answer)).not.toContain('inside');
  expect((await post('well')).statusCode).toBe(200);
});

test('a function later than the integration’s timeout is a 504', async () => {
  await serve('async () => new Promise(() => setTimeout(() => {}, 60_000))');
  for (const { integration } of deployment.template.routes) if ('timeoutMs' in integration) integration.timeoutMs = 50;
  expect(inContract(await post('x'))).toMatchObject({ error: 504 });
});

const SHORT = 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx';

test.each<[string, string, number, string]>([
  ['what is not HTTP', 'PLANT TREES\r\n\r\n', 400, '- -'],
  ['a header without a name', 'POST /plants HTTP/1.1\r\n: x\r\n\r\n', 400, '- -'],
  ['a length that is no number', 'POST /plants HTTP/1.1\r\nContent-Length: x\r\n\r\n', 400, '- -'],
  [
    'a body that breaks off its chunks',
    'POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n',
    400,
    '- -',
  ],
  ['headers over 10 KB', `POST /plants HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(12_000)}\r\n\r\n`, 413, '- -'],
  ['a path over 10 KB', `POST /${'x'.repeat(12_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 413, `POST /${'x'.repeat(199)}…`],
  ['a method that nobody knows', 'PLANT /trees?secret HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'PLANT /trees'],
  ['a method in lower case', 'post /plants HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'post /plants'],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 404, 'CONNECT example.com:443'],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404, 'OPTIONS *'],
  [
    'another host’s address',
    'GET http://example.com/trees?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    404,
    'GET /trees',
  ],
])('%s is answered as any other request, and is a line', async (_, bytes, error, asked) => {
  await serve(ECHO);
  const answer = await exchange(bytes);
  expect(inContract(answer)).toMatchObject({ error });
  const { headers: usual } = await send('/none');
  const own = ['connection', 'keep-alive'];
  const names = (headers: object) => Object.keys(headers).filter((name) => !own.includes(name));
  expect(names(answer.headers).toSorted()).toEqual(names(usual).toSorted());
  const line = lines.find(({ path }) => path !== '/none');
  expect(line).toEqual({ ...line, status: 400, error });
  expect(`${line?.method} ${line?.path}`).toBe(asked);
});

test('an address of the service in absolute form is routed by its path', async () => {
  await serve(ECHO);
  const bytes = SHORT.replace('/plants', 'http://plants.example.com/plants').replace('Host: x', 'Connection: close');
  const { statusCode, body } = await exchange(bytes);
  expect(statusCode).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ path: '/plants', requestContext: { path: '/v1/plants' } });
});

test.each(['GARBAGE', '\0\0', 'PLANT /trees HTTP/1.1\r\n\r\n'])(
  'garbage (%j) behind a request does not replace that request’s answer',
  async (garbage) => {
    await serve('async () => { await new Promise((r) => setTimeout(r, 50)); return { statusCode: 200, body: "{}" } }');
    const text = await bytesFor(`${SHORT}${SHORT}${garbage}`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(lines.map(({ status }) => status)).toEqual([200, 200, 400]);
  },
);

test('each answer is one line with method, path, status, error and how long it took', async () => {
  await serve(ECHO);
  const before = performance.now();
  await send('/nowhere?token=secret', { method: 'PATCH' });
  const durationMs = lines[0]?.durationMs ?? -1;
  expect(lines).toEqual([{ method: 'PATCH', path: '/nowhere', status: 400, error: 404, durationMs }]);
  expect(durationMs).toBeGreaterThan(0);
  expect(durationMs).toBeLessThan(performance.now() - before);
});

test('a line has no more than 200 characters of a path', async () => {
  await serve(ECHO);
  const path = `/${'x'.repeat(199)}`;
  await send(path);
  await send(`${path}y`);
  expect(lines.map((line) => line.path)).toEqual([path, `${path}…`]);
});

test('a caller that has gone is no line', async () => {
  await serve('async () => { await new Promise((r) => setTimeout(r, 50)); return { statusCode: 200, body: "{}" } }');
  const socket = connect(port(), '127.0.0.1');
  await new Promise((resolve) => socket.write(SHORT, resolve));
  socket.destroy();
  // It is answered after the other would have been.
  await post('x');
  expect(lines).toHaveLength(1);
});

test.each(['', 'application/json', 'application/json; charset=utf-8', 'text/plain', 'image/png'])(
  'where there is no route, a body declared as %j is a 404 too',
  async (contentType) => {
    await serve(ECHO);
    const request = { method: 'POST', headers: { 'content-type': contentType, accept: 'image/png' }, body: '{"x":1}' };
    expect(inContract(await send('/nowhere', request))).toMatchObject({ error: 404 });
  },
);
