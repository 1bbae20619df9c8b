import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startStandIn } from '../test/support/stand-in-service.ts';
import { Caller } from './caller.ts';

vi.mock('node:timers/promises', { spy: true });

const JSON_TYPE = { 'content-type': 'application/json' };

test.each<[string | undefined, number]>([
  ['3', 3000],
  ['0', 0],
  ['86400', 10_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
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
  expect(await new Caller(url, 'token').send({ body: '{}' })).toMatchObject({ status: 200, plant: { name: 'x' } });
  expect(vi.mocked(sleep).mock.calls).toEqual([[ms]]);
});

test.each([
  ['http://127.0.0.1:3000/plants', 'http://127.0.0.1:3000/plants', 'http://127.0.0.1:3000'],
  ['http://127.0.0.1:3000/v1//plants//', 'http://127.0.0.1:3000/v1//plants//', 'http://127.0.0.1:3000/v1'],
  ['https://a.example/v1?stage=dev', 'https://a.example/v1?stage=dev', 'https://a.example/v1'],
  ['https://a.example/v1/#/plants', 'https://a.example/v1/#/plants', 'https://a.example/v1'],
  ['https://me:secret@a.example', 'https://me:***@a.example/', 'https://a.example'],
])('the base URL %s is refused with what it must be', (given, shown, mustBe) => {
  expect(() => new Caller(given, 'token')).toThrow(
    `BASE_URL was "${shown}"; it must be the address before /plants, without user, password, query or fragment: ${mustBe}`,
  );
});

test.each([
  ['HTTPS://A.example/v1', 'https://a.example/v1'],
  ['http://127.0.0.1:3000//', 'http://127.0.0.1:3000'],
  [' https://a.example/plants/v1 ', 'https://a.example/plants/v1'],
])('the base URL "%s" is as good as %s', (given, baseUrl) => {
  expect(new Caller(given, 'token').baseUrl).toBe(baseUrl);
});
