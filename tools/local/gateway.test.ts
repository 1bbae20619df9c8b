import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type ErrorNumber, errorHeaders, INTERNAL_ERROR_MESSAGE } from '../../functions/errors.ts';
import { NOT_FOUND } from '../../infra/shared-with-local-run/gateway-errors.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { plantWith } from '../../test/support/event.ts';
import { createGateway } from './gateway.ts';
import { listen } from './listen.ts';
import { LoadError } from './proxy-integration.ts';

let events: APIGatewayProxyEvent[];
let lines: string[];
beforeEach(() => {
  [events, lines] = [[], []];
  vi.unstubAllEnvs();
  vi.spyOn(console, 'error').mockReset().mockReturnValue();
});

type Respond = () => APIGatewayProxyResult | Promise<never>;

const PLANT = plantWith('x');

/** Serves a function that returns this. Returns a function that sends a request, by default a POST, with the URL. */
async function serve(respond: Respond = () => ({ statusCode: 200, body: JSON.stringify(PLANT) })) {
  const handler = async (event: APIGatewayProxyEvent) => {
    events.push(event);
    return respond();
  };
  const { url, server } = await listen(createGateway(handler, (line) => lines.push(line)));
  onTestFinished(() => void server.close());
  const send = async (path: string, { headers, ...init }: RequestInit = {}) => {
    const response = await fetch(url + path, { method: 'POST', ...init, headers: { connection: 'close', ...headers } });
    return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  };
  return Object.assign(send, { url });
}

test('invokes the function with an event that has the last of two equal headers, and both in multiValueHeaders', async () => {
  const { url } = await serve();
  const headers = { 'X-Own': ['1', '2'], connection: 'close' };
  const sent = request(`${url}/plants/?a=b`, { method: 'POST', headers }).end('{"id":1}');
  const [response] = await once(sent, 'response');
  expect([response.statusCode, await text(response)]).toEqual([200, JSON.stringify(PLANT)]);
  const event = {
    resource: '/plants',
    headers: { 'X-Own': '2' },
    multiValueHeaders: { 'X-Own': ['1', '2'] },
    httpMethod: 'POST',
    body: Buffer.from('{"id":1}').toString('base64'),
    isBase64Encoded: true,
    requestContext: { extendedRequestId: response.headers['x-amz-apigw-id'] },
  };
  expect(events).toMatchObject([event]);
});

test.each<[string, Respond, string?]>([
  ['that throws', () => Promise.reject(new Error('inside'))],
  ['that returns a header with a line break', () => ({ statusCode: 200, headers: { 'x-own': 'a\r\nb: c' }, body: '' })],
  ['that cannot be loaded', () => Promise.reject(new LoadError('line 1\nline 2')), 'line 1\nline 2'],
])('returns error 500 for a function %s, and prints why', async (_, respond, reason) => {
  const message = reason ?? INTERNAL_ERROR_MESSAGE;
  const response = contractBody(await (await serve(respond))('/plants'));
  expect(response).toEqual({ error: 500, message });
  expect(vi.mocked(console.error)).toHaveBeenCalledExactlyOnceWith(reason ?? expect.any(Error));
  expect(lines).toEqual([expect.stringContaining(`POST /plants  400 (error 500)  ${message.split('\n')[0]}  `)]);
});

test('renames the header WWW-Authenticate', async () => {
  const send = await serve(() => ({ statusCode: 400, headers: { 'WWW-Authenticate': 'Bearer' }, body: '' }));
  const { headers } = await send('/plants');
  expect(headers).toMatchObject({ 'x-amzn-remapped-www-authenticate': 'Bearer', 'content-type': 'application/json' });
  expect(headers).not.toHaveProperty('www-authenticate');
});

test.each([
  [4_700_000, '/plants', 200, JSON.stringify(PLANT)],
  // In base64 and with the other members, its event is larger than Lambda's limit.
  [4_720_000, '/plants', 413, '{"message":"Request Too Long"}'],
  [10_485_761, '/none', 413, 'HTTP content length exceeded 10485760 bytes.'],
])('responds to %i bytes for %s with status %i, as API Gateway does', async (bytes, path, statusCode, body) => {
  expect(await (await serve())(path, { body: Buffer.alloc(bytes, 'x') })).toMatchObject({ statusCode, body });
});

test.each<ErrorNumber>([429, 500, 503, 504])('sends error %i if the header Prefer asks for it', async (error) => {
  const response = await (await serve())('/plants', { headers: { prefer: `error=${error}` } });
  expect(contractBody(response)).toMatchObject({ error });
  expect(response.headers['retry-after']).toBe(errorHeaders[error]?.['Retry-After']);
  expect([events, lines]).toEqual([[], [expect.stringContaining(`POST /plants  400 (error ${error})  `)]]);
});

test('rejects a wrong value of the header Prefer, and ignores another preference, as a server must (RFC 7240, 2)', async () => {
  const send = await serve();
  const respond = async (prefer: string) => contractBody(await send('/plants', { headers: { prefer } }));
  const message = expect.stringContaining('"error=409"; it must be "error=" with one of 429, 500, 503, 504, or ');
  expect(await respond('error=409')).toEqual({ error: 400, message });
  expect(await respond('respond-async')).toEqual(PLANT);
});

test('with "Prefer: lost-response", carries out what a client sends, and responds only if the client repeats it', async () => {
  const send = await serve();
  const naive = (body: string) => send('/plants', { body, headers: { prefer: 'lost-response' } });
  const repeating = (body: string) => naive(body).catch(() => naive(body));
  await expect(naive('1')).rejects.toThrow('fetch failed');
  for (const body of ['2', '1', '1']) expect(await repeating(body)).toMatchObject({ body: JSON.stringify(PLANT) });
  // The second repetition of 1 is that of a new request.
  expect(events.map(({ body }) => atob(String(body)))).toEqual(['1', '2', '2', '1', '1', '1']);
  expect(lines[0]).toContain('POST /plants  200, but the connection was closed');
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
  expect(lines.at(-1)).not.toContain('ALLOW_ORIGINS');
});

const FOR_PAGES = expect.stringContaining('ALLOW_ORIGINS');
test.each<[request: string, headers: Record<string, string>, hints: string[]]>([
  ['GET /', { accept: '*/*' }, []],
  ['GET /plants', { accept: 'text/html,*/*;q=0.8' }, [expect.stringContaining('/docs')]],
  ['OPTIONS /plants', {}, [FOR_PAGES]],
  ['POST /plants/7', { origin: 'https://a.example' }, [FOR_PAGES]],
])('returns error 404 for %s with the headers %j, and prints hints', async (request, headers, hints) => {
  const [method = '', path] = request.split(' ');
  const response = await (await serve())(`${path}?a=1`, { method, headers });
  expect(contractBody(response)).toEqual(NOT_FOUND);
  const line = expect.stringContaining(`${request}  400 (error 404)  ${NOT_FOUND.message}  `);
  expect([events, lines]).toEqual([[], [line, expect.stringContaining('openapi.yaml'), ...hints]]);
});

test('serves the page at /docs, leads a browser from / to it, and prints nothing', async () => {
  const send = await serve();
  const policy = "default-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
  const headers = { 'content-security-policy': policy };
  expect(await send('/docs/', { method: 'GET' })).toMatchObject({ statusCode: 200, headers });
  const redirection = { statusCode: 302, headers: { location: '/docs' } };
  const accept = { accept: 'text/html,*/*;q=0.8' };
  expect(await send('/', { method: 'GET', headers: accept, redirect: 'manual' })).toMatchObject(redirection);
  expect(lines).toEqual([]);
});
