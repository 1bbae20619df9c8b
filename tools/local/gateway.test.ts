import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import { listen } from '../../test/support/listen.ts';
import { createGateway, readBody } from './gateway.ts';
import { LoadError } from './proxy-event.ts';

let events: APIGatewayProxyEvent[];
let lines: string[];
beforeEach(() => {
  [events, lines] = [[], []];
  vi.unstubAllEnvs();
  vi.spyOn(console, 'error').mockReset().mockReturnValue();
});

type Respond = () => APIGatewayProxyResult | Promise<never>;

/** Serves a function that returns this. Returns a function that sends a request. */
async function serve(respond: Respond = () => ({ statusCode: 200, body: '{"name":"x"}' })) {
  const handler = async (event: APIGatewayProxyEvent) => {
    events.push(event);
    return respond();
  };
  const server = createServer(createGateway(handler, (line) => lines.push(line)));
  onTestFinished(() => void server.close());
  const url = `http://${await listen(server)}`;
  return async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, { ...init, headers: { connection: 'close', ...init.headers } });
    return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  };
}

const post = (body: string | Buffer<ArrayBuffer>) => ({ method: 'POST', body });

test('invokes the function with an event that has the headers and the body of the request', async () => {
  const send = await serve();
  const response = await send('/plants/?a=b', { ...post('{"id":1}'), headers: { 'X-Own': 'x' } });
  expect(response).toMatchObject({ statusCode: 200, body: '{"name":"x"}' });
  const [event] = events;
  expect(event).toMatchObject({
    resource: '/plants',
    headers: { 'X-Own': 'x' },
    httpMethod: 'POST',
    body: Buffer.from('{"id":1}').toString('base64'),
    isBase64Encoded: true,
    requestContext: { extendedRequestId: response.headers['x-amz-apigw-id'] },
  });
});

test.each([
  ['PUT', '/plants'],
  ['OPTIONS', '/plants'],
  ['POST', '/plants/7'],
  ['GET', '/'],
])('returns error 404 for %s %s', async (method, path) => {
  expect(contractBody(await (await serve())(path, { method }))).toMatchObject({ error: 404 });
  expect(events).toEqual([]);
});

test.each<[string, Respond]>([
  ['that throws', () => Promise.reject(new Error('inside'))],
  ['that returns no status', () => ({ statusCode: Number.NaN, body: 'inside' })],
  ['that returns a header with a line break', () => ({ statusCode: 200, headers: { 'x-own': 'a\r\nb: c' }, body: '' })],
])('returns error 500 for a function %s, and prints why', async (_, respond) => {
  const response = contractBody(await (await serve(respond))('/plants', post('x')));
  expect(response).toMatchObject({ error: 500 });
  expect(JSON.stringify(response)).not.toContain('inside');
  expect(vi.mocked(console.error)).toHaveBeenCalledExactlyOnceWith(expect.any(Error));
});

test('returns error 500 with the reason for a function that cannot be loaded', async () => {
  const send = await serve(() => Promise.reject(new LoadError('line 1\nline 2')));
  expect(contractBody(await send('/plants', post('x')))).toEqual({ error: 500, message: 'line 1\nline 2' });
  expect(vi.mocked(console.error)).toHaveBeenCalledExactlyOnceWith('line 1\nline 2');
  expect(lines).toEqual([expect.stringMatching(/^POST \/plants {2}400 \(error 500\) {2}line 1 {2}\d+ ms$/)]);
});

test('renames the header WWW-Authenticate', async () => {
  const send = await serve(() => ({ statusCode: 400, headers: { 'WWW-Authenticate': 'Bearer' }, body: '' }));
  const { headers } = await send('/plants', post('x'));
  expect(headers).toMatchObject({ 'x-amzn-remapped-www-authenticate': 'Bearer', 'content-type': 'application/json' });
  expect(headers).not.toHaveProperty('www-authenticate');
});

const TOO_LONG = '{"message":"Request Too Long"}';
test.each([
  ['accepts a body of 4,700,000 bytes', '/plants', 4_700_000, 200, '{"name":"x"}'],
  // In base64 and with the other members, its event is larger than Lambda's limit.
  ['rejects a body of 4,720,000 bytes as Lambda does', '/plants', 4_720_000, 413, TOO_LONG],
  ['rejects more than 10 MB', '/none', 10_485_761, 413, 'HTTP content length exceeded 10485760 bytes.'],
])('%s', async (_, path, bytes, statusCode, body) => {
  expect(await (await serve())(path, post(Buffer.alloc(bytes, 'x')))).toMatchObject({ statusCode, body });
});

test('reads a larger body to its end, but keeps only its start', async () => {
  const MB = 1024 * 1024;
  const message = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(MB)));
  expect(await readBody(message)).toHaveLength(11 * MB);
  expect(message.readableEnded).toBe(true);
});

test('with ALLOW_ORIGINS, pages of other origins can send requests and read error responses', async () => {
  vi.stubEnv('ALLOW_ORIGINS', 'https://a.example');
  const send = await serve();
  expect(await send('/plants', { method: 'OPTIONS' })).toMatchObject({
    statusCode: 200,
    headers: { 'access-control-allow-origin': 'https://a.example', 'access-control-allow-methods': 'POST' },
  });
  const { headers } = await send('/none', { method: 'OPTIONS' });
  expect(headers).toMatchObject({ 'access-control-allow-origin': 'https://a.example' });
  expect(headers).not.toHaveProperty('access-control-allow-methods');
});

test('rejects an origin in ALLOW_ORIGINS that the settings of a stage would reject', async () => {
  vi.stubEnv('ALLOW_ORIGINS', 'https://a.example,https://*.example.com');
  await expect(serve()).rejects.toThrow('The allowed origin "https://*.example.com" must be ');
});

test('prints a line for each response, and the only path and method for an unknown one', async () => {
  const send = await serve(() => ({ statusCode: 400, body: '{"error":409,"message":"It is \\"in use\\"."}' }));
  await send('/plants?a=1', post('x'));
  await send('/none');
  expect(lines).toEqual([
    expect.stringMatching(/^POST \/plants {2}400 \(error 409\) {2}It is "in use"\. {2}\d+ ms$/),
    expect.stringMatching(/^GET \/none {2}400 \(error 404\) {2}There is no such path or method\. {2}\d+ ms$/),
    'The only path and method is POST /plants. For pages of other origins, set ALLOW_ORIGINS.',
  ]);
});

test.each(['GET', 'HEAD'])('serves the page at /docs for %s, without a line in the terminal', async (method) => {
  const { statusCode, headers } = await (await serve())('/docs/', { method });
  expect(statusCode).toBe(200);
  expect(headers['content-security-policy']).toBe("default-src 'self' 'unsafe-inline'; img-src data:");
  expect(lines).toEqual([]);
});

test('leads a browser from / to the page', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const { statusCode, headers } = await (await serve())('/', { headers: { accept }, redirect: 'manual' });
  expect({ statusCode, location: headers['location'] }).toEqual({ statusCode: 302, location: '/docs' });
});
