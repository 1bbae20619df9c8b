import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { type ClientRequest, parseResponse } from '../checks/client.ts';
import { type FakeResponse, type ReceivedRequest, startFakeService } from '../test/support/fake-service.ts';
import { UsageError } from './command.ts';
import { HttpClient } from './http-client.ts';

vi.mock('node:timers/promises', { spy: true });
beforeEach(() => void vi.mocked(sleep).mockReset());

const JSON_TYPE = { 'content-type': 'application/json' };

function errorResponse(error: number): FakeResponse {
  return { status: 400, headers: JSON_TYPE, body: `{"error":${error},"message":"x"}` };
}

test.each<[string | undefined, number]>([
  ['3', 3000],
  ['0', 1000],
  ['86400', 10_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
  ['3 s', 1000],
  [undefined, 1000],
])('repeats a request that is throttled with Retry-After %s after %d ms', async (retryAfter, ms) => {
  vi.mocked(sleep).mockResolvedValueOnce(undefined);
  let requests = 0;
  const url = await startFakeService(() => {
    requests += 1;
    if (requests > 1) return { status: 200, headers: JSON_TYPE, body: '{"name":"x"}' };
    const { headers, ...response } = errorResponse(429);
    return { ...response, headers: { ...headers, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) } };
  });
  expect(await new HttpClient(url, 'token').send({ body: '{}' })).toMatchObject({ status: 200, body: { name: 'x' } });
  expect(vi.mocked(sleep).mock.calls).toEqual([[ms]]);
});

test('gives up after five repeats of a throttled request', async () => {
  vi.mocked(sleep).mockResolvedValue(undefined);
  let requests = 0;
  const url = await startFakeService(() => {
    requests += 1;
    return errorResponse(429);
  });
  expect(await new HttpClient(url, 'token').send({ body: '{}' })).toMatchObject({ status: 400, error: 429 });
  expect(requests).toBe(6);
});

const NO_HEADERS = { authorization: undefined, 'content-type': undefined };
test.each<[string, ClientRequest, Partial<ReceivedRequest>, Record<string, string | undefined>]>([
  [
    'a POST of JSON to /plants with the token by default',
    { body: '{}' },
    { method: 'POST', path: '/v1/plants', body: '{}' },
    { authorization: 'Bearer the-token', 'content-type': 'application/json' },
  ],
  [
    'the method, path, headers and body of the request',
    { method: 'PUT', path: '/a/b', headers: { authorization: 'Basic x', 'x-other': 'y' }, body: Uint8Array.of(0xff) },
    { method: 'PUT', path: '/v1/a/b', bytes: Buffer.of(0xff) },
    { authorization: 'Basic x', 'content-type': 'application/json', 'x-other': 'y' },
  ],
  ['no empty header', { headers: { authorization: '', 'content-type': '' } }, {}, NO_HEADERS],
  ['no body by default', {}, { method: 'POST', body: '' }, {}],
  ['no body with a GET', { method: 'GET', body: '{}' }, { method: 'GET', body: '' }, {}],
])('sends %s', async (_, request, expected, headers) => {
  const received: ReceivedRequest[] = [];
  const url = await startFakeService((sent) => {
    received.push(sent);
    return { status: 200, headers: { ...JSON_TYPE, 'X-Amz-Apigw-Id': 'id' }, body: '{"name":"x"}' };
  });
  const response = await new HttpClient(`${url}/v1/`, 'the-token').sendOnce(request);
  expect(response).toMatchObject({ status: 200, headers: { 'x-amz-apigw-id': 'id' } });
  expect(response.text).toBe('{"name":"x"}');
  expect(received).toEqual([expect.objectContaining(expected)]);
  for (const [name, value] of Object.entries(headers)) expect(received[0]?.headers[name]).toBe(value);
});

const NOT_ALLOWED = 'it must be a 200 or a 400 with exactly the members that openapi.yaml defines';
const NOT_JSON_TYPE = 'the Content-Type must be application/json';

test.each([
  ['all members', 200, 'application/json', '{"name":"x","tag":""}', undefined],
  ['a missing member', 200, 'application/json', '{"tag":"x"}', NOT_ALLOWED],
  ['an additional member', 200, 'application/json', '{"name":"x","id":1}', NOT_ALLOWED],
  ['a member of the wrong type', 200, 'application/json', '{"name":"x","tag":null}', NOT_ALLOWED],
  ['a body that is not an object', 200, 'application/json', '["name"]', NOT_ALLOWED],
  ['an error without a message', 400, 'application/json', '{"error":409}', NOT_ALLOWED],
  ['an error with an additional member', 400, 'application/json', '{"error":409,"message":"x","id":1}', NOT_ALLOWED],
  ['an error number of the wrong type', 400, 'application/json', '{"error":"409","message":"x"}', NOT_ALLOWED],
  ['a message of the wrong type', 400, 'application/json', '{"error":409,"message":7}', NOT_ALLOWED],
  ['null as error', 400, 'application/json', 'null', NOT_ALLOWED],
  ['the body of an error', 200, 'application/json', '{"error":409,"message":"x"}', NOT_ALLOWED],
  ['the body of a plant', 400, 'application/json', '{"name":"x"}', NOT_ALLOWED],
  ['another status', 201, 'application/json', '{"name":"x"}', NOT_ALLOWED],
  ['an int32', 400, 'application/json', '{"error":2147483647,"message":"x"}', undefined],
  ['a negative int32', 400, 'application/json', '{"error":-2147483647,"message":"x"}', undefined],
  ['more than an int32', 400, 'application/json', '{"error":2147483648,"message":"x"}', NOT_ALLOWED],
  ['less than an int32', 400, 'application/json', '{"error":-2147483649,"message":"x"}', NOT_ALLOWED],
  ['an empty message', 400, 'application/json', '{"error":409,"message":""}', NOT_ALLOWED],
  ['no JSON', 200, 'application/json', '{"name":"x"', 'the body must be JSON'],
  ['a charset', 200, 'Application/JSON; charset=utf-8', '{"name":"x"}', undefined],
  ['a longer media type', 200, 'application/json-patch', '{"name":"x"}', NOT_JSON_TYPE],
  ['a prefixed media type', 200, 'xapplication/json', '{"name":"x"}', NOT_JSON_TYPE],
  ['another media type', 200, 'text/html', '{"name":"x"}', NOT_JSON_TYPE],
  ['no Content-Type', 200, undefined, '{"name":"x"}', NOT_JSON_TYPE],
])('checks a response with %s: %s, %s, %s; %s', (_, status, contentType, body, problem) => {
  const parse = () => parseResponse(status, contentType, body);
  if (problem) return expect(parse).toThrow(`${status}, ${contentType ?? 'no Content-Type'}, ${body}; ${problem}`);
  const parsed = JSON.parse(body);
  expect(parse()).toEqual(status === 200 ? { status, body: parsed } : { status, ...parsed });
});

test('shows an invalid response in one line, shortened and without control characters', () => {
  const page = `<html>\r\n\t<h1>Bad \u001b[31m\u009bgateway</h1>${'x'.repeat(500)}`;
  expect(() => parseResponse(502, 'text/html', page)).toThrow(
    /^502, text\/html, <html> <h1>Bad \[31m gateway<\/h1>x{150,200}; the Content-Type must be application\/json$/,
  );
});

test.each<[string, FakeResponse | undefined, string | undefined]>([
  ['the token is rejected', errorResponse(401), 'The token is not valid at URL.'],
  [
    'it responds with error 404',
    errorResponse(404),
    'There is no POST /plants at URL; BASE_URL must be the URL without',
  ],
  ['the response is another error', errorResponse(400), undefined],
  [
    'another service responds',
    { status: 502, headers: {}, body: '' },
    'URL is not this service: the response was 502,',
  ],
  ['nothing responds', undefined, 'URL does not respond: '],
])('checks the access if %s', async (_, response, message) => {
  const url = response ? await startFakeService(() => response) : 'http://127.0.0.1:9';
  const access = new HttpClient(url, 'token').checkAccess();
  if (message === undefined) await expect(access).resolves.toBeUndefined();
  else await expect(access).rejects.toThrow(message.replace('URL', url));
});

test('repeats the check of the access for the given time, but not with an invalid token', async () => {
  vi.mocked(sleep).mockResolvedValue(undefined);
  const forbidden = { status: 403, headers: {}, body: '' };
  const responses = [forbidden, ...[404, 400, 404, 404].map(errorResponse)];
  const url = await startFakeService(() => responses.shift() ?? errorResponse(401));
  const client = new HttpClient(url, 'token');
  await expect(client.checkAccess(60)).resolves.toBeUndefined();
  expect(vi.mocked(sleep).mock.calls).toEqual([[5000], [5000]]);
  vi.spyOn(Date, 'now').mockReturnValueOnce(0).mockReturnValueOnce(59_999).mockReturnValueOnce(60_000);
  await expect(client.checkAccess(60)).rejects.toThrow('There is no POST /plants');
  vi.mocked(Date.now).mockRestore();
  await expect(client.checkAccess(60)).rejects.toThrow('The token is not valid');
  expect(vi.mocked(sleep)).toHaveBeenCalledTimes(3);
});

test('ends a request without a response after 30 s', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    expect(ms).toBe(30_000);
    return AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
  });
  const url = await startFakeService(() => new Promise(() => {}));
  await expect(new HttpClient(url, 'token').checkAccess()).rejects.toThrow(`${url} does not respond within 30 s.`);
  vi.mocked(AbortSignal.timeout).mockRestore();
});

test('accepts a base URL with slashes at its end', () => {
  expect(new HttpClient('HTTPS://a.example/v1//', 'token').baseUrl).toBe('HTTPS://a.example/v1');
});

test.each([undefined, 'plants.example.com', 'ftp://a.example', 'file:///xhttp://', 'httpx://a.example', 'http://'])(
  'rejects the base URL %s',
  (baseUrl) => {
    const error = new UsageError(`BASE_URL was "${baseUrl ?? ''}"; it must be an http or https URL.`);
    expect(() => new HttpClient(baseUrl, 'token')).toThrow(error);
  },
);

test('uses its token or PLANT_STORE_TOKEN, and throws if there is neither', () => {
  vi.stubEnv('PLANT_STORE_TOKEN', 'variable');
  expect(new HttpClient('http://a.example').token).toBe('variable');
  expect(new HttpClient('http://a.example', 'argument').token).toBe('argument');
  for (const missing of ['', undefined]) {
    vi.stubEnv('PLANT_STORE_TOKEN', missing);
    const error = new UsageError('There is no token; set --token or the environment variable PLANT_STORE_TOKEN.');
    expect(() => new HttpClient('http://a.example', missing)).toThrow(error);
  }
  vi.unstubAllEnvs();
});
