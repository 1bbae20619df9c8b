import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type ClientRequest, parseResponse } from '../checks/client.ts';
import { WrongArguments } from '../cli/command.ts';
import { inContract } from '../test/support/contract.ts';
import { type Answered, type Sent, startStandIn } from '../test/support/stand-in-service.ts';
import { HttpClient } from './http-client.ts';

vi.mock('node:timers/promises', { spy: true });

const JSON_TYPE = { 'content-type': 'application/json' };

function refusal(error: number): Answered {
  return { status: 400, headers: JSON_TYPE, body: `{"error":${error},"message":"x"}` };
}

test.each<[string | undefined, number]>([
  ['3', 3000],
  ['0', 1000],
  ['86400', 10_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
  ['3 s', 1000],
  [undefined, 1000],
])('a request that is throttled with Retry-After %s is sent again after %d ms', async (retryAfter, ms) => {
  vi.mocked(sleep).mockClear().mockResolvedValueOnce(undefined);
  let requests = 0;
  const url = await startStandIn(() => {
    requests += 1;
    if (requests > 1) return { status: 200, headers: JSON_TYPE, body: '{"name":"x"}' };
    const headers = { ...JSON_TYPE, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
    return { status: 400, headers, body: '{"error":429,"message":"x"}' };
  });
  expect(await new HttpClient(url, 'token').send({ body: '{}' })).toMatchObject({ status: 200, body: { name: 'x' } });
  expect(vi.mocked(sleep).mock.calls).toEqual([[ms]]);
});

test.each([
  ['http://127.0.0.1:3000/plants', 'http://127.0.0.1:3000/plants', 'http://127.0.0.1:3000'],
  ['http://127.0.0.1:3000/v1//plants//', 'http://127.0.0.1:3000/v1//plants//', 'http://127.0.0.1:3000/v1'],
  ['https://a.example/v1?stage=dev', 'https://a.example/v1?stage=dev', 'https://a.example/v1'],
  ['https://a.example/v1/#/plants', 'https://a.example/v1/#/plants', 'https://a.example/v1'],
  ['https://me:secret@a.example', 'https://me:***@a.example/', 'https://a.example'],
])('the base URL %s is refused with what it must be', (given, shown, mustBe) => {
  const sentence = `BASE_URL was "${shown}"; it must be the address before /plants, without user, password, query or fragment: ${mustBe}`;
  expect(() => new HttpClient(given, 'token')).toThrow(new WrongArguments(sentence));
});

test.each([
  ['HTTPS://A.example/v1', 'https://a.example/v1'],
  ['http://127.0.0.1:3000//', 'http://127.0.0.1:3000'],
  [' https://a.example/plants/v1 ', 'https://a.example/plants/v1'],
])('the base URL "%s" is as good as %s', (given, baseUrl) => {
  expect(new HttpClient(given, 'token').baseUrl).toBe(baseUrl);
});

test('returns the sixth response if all are throttled', async () => {
  vi.mocked(sleep).mockClear().mockResolvedValue(undefined);
  let requests = 0;
  const url = await startStandIn(() => {
    requests += 1;
    return refusal(429);
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
    'is what it is told to be',
    { method: 'PUT', path: '/a/b', headers: { authorization: 'Basic x', 'x-other': 'y' }, body: Uint8Array.of(0xff) },
    { method: 'PUT', path: '/v1/a/b', bytes: Buffer.of(0xff) },
    { authorization: 'Basic x', 'content-type': 'application/json', 'x-other': 'y' },
  ],
  [
    'has no header that is empty',
    { headers: { authorization: '', 'content-type': '' }, body: '{}' },
    { body: '{}' },
    { authorization: undefined, 'content-type': undefined },
  ],
  ['has no body where none is given', {}, { method: 'POST', body: '' }, {}],
  ['has no body where it is a GET', { method: 'GET', body: '{}' }, { method: 'GET', body: '' }, {}],
  ['has no body where it is a HEAD', { method: 'HEAD', body: '{}' }, { method: 'HEAD', body: '' }, {}],
])('a request %s', async (_, request, sent, headers) => {
  const seen: Sent[] = [];
  const url = await startStandIn((one) => {
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

test('an answer is in the contract where openapi.yaml has it so, and with no other member', () => {
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
    return Boolean(inContract({ statusCode, headers: JSON_TYPE, body }));
  } catch {
    return false;
  }
}

test.each([
  ['{"error":2147483647,"message":"x"}', true],
  ['{"error":2147483648,"message":"x"}', false],
  ['{"error":-2147483647,"message":"x"}', true],
  ['{"error":-2147483649,"message":"x"}', false],
  ['{"error":409,"message":""}', false],
])('an Error has an int32, and a message that says something: %s, %s', (body, is) => {
  const read = () => parseResponse(400, 'application/json', body);
  if (is) expect(read()).toEqual({ status: 400, ...JSON.parse(body) });
  else expect(read).toThrow(ONLY);
});

test('an answer that is no JSON is not in the contract', () => {
  expect(() => parseResponse(200, 'application/json', '{"name":"x"')).toThrow(
    '200, application/json, {"name":"x"; the body must be JSON',
  );
});

test.each([
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/json-patch', false],
  ['xapplication/json', false],
  ['text/html', false],
  [undefined, false],
])('an answer with the Content-Type %s is in the contract: %s', (contentType, is) => {
  const read = () => parseResponse(200, contentType, '{"name":"x"}');
  if (is) return expect(read()).toEqual({ status: 200, body: { name: 'x' } });
  const shown = contentType ?? 'no Content-Type';
  expect(read).toThrow(`200, ${shown}, {"name":"x"}; the Content-Type must be application/json`);
});

test('what a server sends is shown in one line, without what steers a terminal, and not at length', () => {
  const page = `<html>\r\n\t<h1>Bad \u001b[31m\u009bgateway</h1>${'x'.repeat(500)}`;
  expect(() => parseResponse(502, 'text/html', page)).toThrow(
    /^502, text\/html, <html> <h1>Bad \[31m gateway<\/h1>x{150,200}; the Content-Type must be application\/json$/,
  );
});

test.each<[string, Answered | undefined, string | undefined]>([
  ['the token is refused', refusal(401), 'The token is not valid at URL.'],
  [
    'there is no service',
    refusal(404),
    'There is no POST /plants at URL; BASE_URL must be the address before /plants.',
  ],
  ['the request is refused otherwise', refusal(400), undefined],
  [
    'there is another service',
    { status: 502, headers: {}, body: '' },
    'URL is not this service: the response was 502, no Content-Type, ; the Content-Type must be application/json.',
  ],
  ['nothing responds', undefined, 'URL does not respond: '],
])('checkAccess throws a sentence if %s', async (_, response, sentence) => {
  const url = response ? await startStandIn(() => response) : 'http://127.0.0.1:9';
  const access = new HttpClient(url, 'token').checkAccess();
  if (sentence === undefined) await expect(access).resolves.toBeUndefined();
  else await expect(access).rejects.toThrow(sentence.replace('URL', url));
});

test('checkAccess repeats what fails, for as long as it is told to, but not an invalid token', async () => {
  vi.mocked(sleep).mockClear().mockResolvedValue(undefined);
  const responses = [{ status: 403, headers: {}, body: '' }, refusal(404), refusal(400), refusal(404), refusal(404)];
  const url = await startStandIn(() => responses.shift() ?? refusal(401));
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

test('a request without a response ends after 30 s', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    expect(ms).toBe(30_000);
    return AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
  });
  const url = await startStandIn(() => new Promise(() => {}));
  await expect(new HttpClient(url, 'token').checkAccess()).rejects.toThrow(`${url} does not respond within 30 s.`);
  vi.mocked(AbortSignal.timeout).mockRestore();
});

test.each([undefined, 'plants.example.com', 'ftp://a.example', 'file:///xhttp://', 'httpx://a.example'])(
  'the base URL %s is no address of a service',
  (given) => {
    const wrong = () => new HttpClient(given, 'token');
    expect(wrong).toThrow(WrongArguments);
    expect(wrong).toThrow(`BASE_URL was "${given ?? ''}"; it must be an http or https address.`);
  },
);

test('the token is the one that is given, or else that of the environment; without one there is a sentence', () => {
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
