import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { type FakeResponse, type ReceivedRequest, startFakeService } from '../test/support/fake-service.ts';
import { UsageError } from './command.ts';
import { HttpClient } from './http-client.ts';

vi.mock('node:timers/promises', { spy: true });
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.mocked(sleep)
    .mockReset()
    .mockImplementation(async (ms) => void vi.setSystemTime(Date.now() + Number(ms)));
  return () => vi.useRealTimers();
});

const JSON_TYPE = { 'content-type': 'application/json' };

function errorResponse(error: number): FakeResponse {
  return { status: 400, headers: JSON_TYPE, body: `{"error":${error},"message":"x"}` };
}

test('sends a request over HTTP, and returns the response', async () => {
  const received: ReceivedRequest[] = [];
  const url = await startFakeService((sent) => {
    received.push(sent);
    return { status: 200, headers: { ...JSON_TYPE, 'X-Amz-Apigw-Id': 'id' }, body: '{"name":"x"}' };
  });
  const client = new HttpClient(`${url}/v1/`, 'the-token');
  const response = await client.sendOnce({ method: 'PUT', path: '/a/b', body: Uint8Array.of(0xff) });
  expect(response).toMatchObject({ status: 200, headers: { 'x-amz-apigw-id': 'id' }, text: '{"name":"x"}' });
  await client.sendOnce({ headers: { authorization: '' } });
  expect(received).toMatchObject([
    { method: 'PUT', path: '/v1/a/b', bytes: Buffer.of(0xff), headers: { authorization: 'Bearer the-token' } },
    { method: 'POST', path: '/v1/plants', body: '' },
  ]);
  expect(received[1]?.headers.authorization).toBeUndefined();
});

test.each<[string, FakeResponse | undefined, string | undefined]>([
  ['the token is rejected', errorResponse(401), 'The token is not valid at URL.'],
  ['it responds with error 404', errorResponse(404), 'There is no POST /plants at URL; BASE_URL must be the URL'],
  ['the response is another error', errorResponse(400), undefined],
  ['another service responds', { status: 502, headers: {}, body: '' }, 'URL is not this service: the response was 502'],
  ['nothing responds', undefined, 'URL does not respond: '],
])('checks the access once if %s', async (_, response, message) => {
  const url = response ? await startFakeService(() => response) : 'http://127.0.0.1:9';
  const access = new HttpClient(url, 'token').checkAccess();
  if (message === undefined) await expect(access).resolves.toBeUndefined();
  else await expect(access).rejects.toThrow(message.replace('URL', url));
});

const forbidden = { status: 403, headers: {}, body: '' };
test.each<[string, FakeResponse[], number, string | undefined]>([
  ['until it has access', [forbidden, errorResponse(404), errorResponse(400)], 2, undefined],
  ['until the time is up', [errorResponse(404)], 12, 'There is no POST /plants'],
  ['until the token is rejected', [forbidden, errorResponse(401)], 1, 'The token is not valid'],
])('checks the access every 5 s, for up to 60 s, %s', async (_, responses, waits, message) => {
  const last = responses.at(-1) ?? forbidden;
  const url = await startFakeService(() => responses.shift() ?? last);
  const access = new HttpClient(url, 'token').checkAccess(60);
  if (message === undefined) await expect(access).resolves.toBeUndefined();
  else await expect(access).rejects.toThrow(message);
  expect(vi.mocked(sleep).mock.calls).toEqual(Array(waits).fill([5000]));
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
