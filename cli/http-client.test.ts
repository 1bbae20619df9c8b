import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type ClientRequest, parseResponse } from '../checks/client.ts';
import { WrongArguments } from '../cli/command.ts';
import { contractBody } from '../test/support/contract.ts';
import { type FakeResponse, type Sent, startFakeService } from '../test/support/fake-service.ts';
import { HttpClient } from './http-client.ts';

vi.mock('node:timers/promises', { spy: true });

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
])('sends a request that is throttled with Retry-After %s again after %d ms', async (retryAfter, ms) => {
  vi.mocked(sleep).mockClear().mockResolvedValueOnce(undefined);
  let requests = 0;
  const url = await startFakeService(() => {
    requests += 1;
    if (requests > 1) return { status: 200, headers: JSON_TYPE, body: '{"name":"x"}' };
    const headers = { ...JSON_TYPE, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
    return { status: 400, headers, body: '{"error":429,"message":"x"}' };
  });
  expect(await new HttpClient(url, 'token').send({ body: '{}' })).toMatchObject({ status: 200, body: { name: 'x' } });
  expect(vi.mocked(sleep).mock.calls).toEqual([[ms]]);
});

test('returns the sixth response if all are throttled', async () => {
  vi.mocked(sleep).mockClear().mockResolvedValue(undefined);
  let requests = 0;
  const url = await startFakeService(() => {
    requests += 1;
    return errorResponse(429);
  });
  expect(await new HttpClient(url, 'token').send({ body: '{}' })).toMatchObject({ status: 400, error: 429 });
  expect(requests).toBe(6);
  vi.mocked(sleep).mockReset();
});

test.each<[string, ClientRequest, Partial<Sent>, Record<string, string | undefined>]>([
  [
    'by default is a POST of JSON to /plants with the token',
    { body: '{}' },
    { method: 'POST', path: '/v1/plants', body: '{}' },
    { authorization: 'Bearer the-token', 'content-type': 'application/json' },
  ],
  [
    'has the method, path, headers and body that are given',
    { method: 'PUT', path: '/a/b', headers: { authorization: 'Basic x', 'x-other': 'y' }, body: Uint8Array.of(0xff) },
    { method: 'PUT', path: '/v1/a/b', bytes: Buffer.of(0xff) },
    { authorization: 'Basic x', 'content-type': 'application/json', 'x-other': 'y' },
  ],
  [
    'has no empty header',
    { headers: { authorization: '', 'content-type': '' }, body: '{}' },
    { body: '{}' },
    { authorization: undefined, 'content-type': undefined },
  ],
  ['has no body by default', {}, { method: 'POST', body: '' }, {}],
  ['has no body if it is a GET', { method: 'GET', body: '{}' }, { method: 'GET', body: '' }, {}],
  ['has no body if it is a HEAD', { method: 'HEAD', body: '{}' }, { method: 'HEAD', body: '' }, {}],
])('a request %s', async (_, request, sent, headers) => {
  const seen: Sent[] = [];
  const url = await startFakeService((one) => {
    seen.push(one);
    return { status: 200, headers: { ...JSON_TYPE, 'X-Amz-Apigw-Id': 'id' }, body: '{"name":"x"}' };
  });
  const response = await new HttpClient(`${url}/v1/`, 'the-token').sendOnce(request);
  expect(response).toMatchObject({ status: 200, headers: { 'x-amz-apigw-id': 'id' } });
  expect(response.text).toBe(request.method === 'HEAD' ? '' : '{"name":"x"}');
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject(sent);
  for (const [name, value] of Object.entries(headers)) expect(seen[0]?.headers[name]).toBe(value);
});

const ONLY = 'it must be a 200 or a 400 as openapi.yaml has it, and have no other member';
const JSON_ONLY = 'the Content-Type must be application/json';

test('a response is in the contract if openapi.yaml allows it, without another member', () => {
  const text = fc.constantFrom<unknown>('x', 'y', 7, null, []);
  const error = fc.constantFrom<unknown>(404, 409, 409.5, '409', null);
  const body = fc.oneof(
    fc.record({ name: text, tag: text }, { requiredKeys: [] }),
    fc.record({ error, message: text }, { requiredKeys: [] }),
    fc.record({ name: text, tag: text, error, message: text, id: fc.constant(1) }, { requiredKeys: [] }),
    fc.constantFrom(null, 'name', 7, [], ['name']),
  );
  fc.assert(
    fc.property(fc.constantFrom(200, 400, 201, 404), body, (status, said) => {
      const sent = JSON.stringify(said);
      const read = () => parseResponse(status, 'application/json', sent);
      if (isOfContract(status, sent))
        expect(read()).toEqual(status === 200 ? { status, body: said } : { status, ...Object(said) });
      else expect(read).toThrow(`${status}, application/json, ${sent}; ${ONLY}`);
    }),
    { numRuns: 500 },
  );
});

function isOfContract(statusCode: number, body: string): boolean {
  try {
    return Boolean(contractBody({ statusCode, headers: JSON_TYPE, body }));
  } catch {
    return false;
  }
}

test.each([
  ['an int32', 400, 'application/json', '{"error":2147483647,"message":"x"}', undefined],
  ['a negative int32', 400, 'application/json', '{"error":-2147483647,"message":"x"}', undefined],
  ['more than an int32', 400, 'application/json', '{"error":2147483648,"message":"x"}', ONLY],
  ['less than an int32', 400, 'application/json', '{"error":-2147483649,"message":"x"}', ONLY],
  ['an empty message', 400, 'application/json', '{"error":409,"message":""}', ONLY],
  ['no JSON', 200, 'application/json', '{"name":"x"', 'the body must be JSON'],
  ['a charset', 200, 'Application/JSON; charset=utf-8', '{"name":"x"}', undefined],
  ['a longer media type', 200, 'application/json-patch', '{"name":"x"}', JSON_ONLY],
  ['a prefixed media type', 200, 'xapplication/json', '{"name":"x"}', JSON_ONLY],
  ['another media type', 200, 'text/html', '{"name":"x"}', JSON_ONLY],
  ['no Content-Type', 200, undefined, '{"name":"x"}', JSON_ONLY],
])('a response with %s is in the contract, or not: %s, %s, %s; %s', (_, status, contentType, body, problem) => {
  const read = () => parseResponse(status, contentType, body);
  if (problem) return expect(read).toThrow(`${status}, ${contentType ?? 'no Content-Type'}, ${body}; ${problem}`);
  const parsed = JSON.parse(body);
  expect(read()).toEqual(status === 200 ? { status, body: parsed } : { status, ...parsed });
});

test('shows what a server sends in one line, shortened, and without control characters', () => {
  const page = `<html>\r\n\t<h1>Bad \u001b[31m\u009bgateway</h1>${'x'.repeat(500)}`;
  expect(() => parseResponse(502, 'text/html', page)).toThrow(
    /^502, text\/html, <html> <h1>Bad \[31m gateway<\/h1>x{150,200}; the Content-Type must be application\/json$/,
  );
});

test.each<[string, FakeResponse | undefined, string | undefined]>([
  ['the token is rejected', errorResponse(401), 'The token is not valid at URL.'],
  [
    'there is no service',
    errorResponse(404),
    'There is no POST /plants at URL; BASE_URL must be the address before /plants.',
  ],
  ['the request is rejected otherwise', errorResponse(400), undefined],
  [
    'there is another service',
    { status: 502, headers: {}, body: '' },
    'URL is not this service: the response was 502, no Content-Type, ; the Content-Type must be application/json.',
  ],
  ['nothing responds', undefined, 'URL does not respond: '],
])('checkAccess throws a sentence if %s', async (_, response, sentence) => {
  const url = response ? await startFakeService(() => response) : 'http://127.0.0.1:9';
  const access = new HttpClient(url, 'token').checkAccess();
  if (sentence === undefined) await expect(access).resolves.toBeUndefined();
  else await expect(access).rejects.toThrow(sentence.replace('URL', url));
});

test('checkAccess repeats what fails for the given time, but not an invalid token', async () => {
  vi.mocked(sleep).mockClear().mockResolvedValue(undefined);
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
  vi.mocked(sleep).mockReset();
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
  (given) => {
    const wrong = () => new HttpClient(given, 'token');
    expect(wrong).toThrow(WrongArguments);
    expect(wrong).toThrow(`BASE_URL was "${given ?? ''}"; it must be an http or https address.`);
  },
);

test('uses the token that is given, or PLANT_STORE_TOKEN, or throws a sentence', () => {
  vi.stubEnv('PLANT_STORE_TOKEN', 'of the environment');
  expect(new HttpClient('http://a.example').token).toBe('of the environment');
  expect(new HttpClient('http://a.example', 'given').token).toBe('given');
  vi.unstubAllEnvs();
  for (const missing of ['', undefined]) {
    vi.stubEnv('PLANT_STORE_TOKEN', missing);
    const without = () => new HttpClient('http://a.example', missing);
    expect(without).toThrow(WrongArguments);
    expect(without).toThrow('There is no token: use --token or the variable PLANT_STORE_TOKEN.');
    vi.unstubAllEnvs();
  }
});
