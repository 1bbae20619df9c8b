import type { RequestListener } from 'node:http';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { discovery, newKey, startIssuer } from '../../test/support/issuer.ts';
import { ProviderKeys } from './provider-keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const HALF_HOUR = 1_800_000;
const METADATA = '/.well-known/openid-configuration';

const issuer = closedAtEnd(await startIssuer());
const [key, next] = [newKey(), newKey()];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  issuer.publish(key);
  issuer.requests.length = 0;
  return () => vi.useRealTimers();
});
const setAge = (ms: number) => vi.setSystemTime(NOW + ms);

/** Returns a function that looks up a key by its id. A busy machine can take longer than the default limit. */
function newFind(url = issuer.url) {
  const { find } = new ProviderKeys(url, 60_000);
  return (kid: string = key.kid) => find({ alg: 'ES256', kid });
}
/** Looks up 40 unknown key ids at once. Returns the errors without repeats. */
async function findUnknown(find = newFind()) {
  const lookups = Array.from({ length: 40 }, (_, index) => find(`unknown-${index}`).catch((thrown) => thrown));
  return [...new Set(await Promise.all(lookups))];
}
const FOUND = expect.objectContaining({ type: 'public' });
const UNKNOWN = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
const UNAVAILABLE = { error: 503, message: 'The identity provider failed or did not respond. Try again.' };

test('fetches the keys once for concurrent and later lookups, and again when they are 30 minutes old', async () => {
  const find = newFind();
  expect(await Promise.all([find(), find()])).toEqual([FOUND, FOUND]);
  issuer.publish(next);
  setAge(HALF_HOUR - 1);
  expect(await find()).toEqual(FOUND);
  expect(issuer.requests).toEqual([METADATA, '/keys']);
  setAge(HALF_HOUR);
  await Promise.all([expect(find()).rejects.toMatchObject(UNKNOWN), expect(find(next.kid)).resolves.toEqual(FOUND)]);
  expect(issuer.requests).toHaveLength(4);
});

test.each(['/tenant', '/tenant/'])('fetches the keys of the issuer %s over new connections', async (path) => {
  const requests: string[] = [];
  issuer.respondWith((request, response) => {
    requests.push(`${request.url} ${request.headers.connection}`);
    discovery(`${issuer.url}${path}`, key)(request, response);
  });
  expect(await newFind(`${issuer.url}${path}`)()).toEqual(FOUND);
  expect(requests).toEqual([`/tenant${METADATA} close`, '/keys close']);
});

test('fetches the keys for unknown key ids at most every 30 s', async () => {
  const find = newFind();
  await find();
  issuer.publish(next);
  setAge(29_999);
  await expect(find(next.kid)).rejects.toMatchObject(UNKNOWN);
  expect(issuer.requests).toHaveLength(2);
  setAge(30_000);
  await findUnknown(find);
  expect(await find(next.kid)).toEqual(FOUND);
  expect(issuer.requests).toHaveLength(4);
});

test('uses its keys for an hour if the provider fails, then throws 503 until the provider works', async () => {
  const find = newFind();
  await find();
  issuer.respondWith(respond(500));
  for (const age of [HALF_HOUR, 2 * HALF_HOUR - 1]) {
    setAge(age);
    expect(await find()).toEqual(FOUND);
  }
  expect(issuer.requests).toHaveLength(4);
  setAge(2 * HALF_HOUR);
  await expect(find()).rejects.toMatchObject(UNAVAILABLE);
  issuer.publish(key);
  setAge(2 * HALF_HOUR + 10_000);
  expect(await find()).toEqual(FOUND);
});

test('fetches at the same times if the system clock is set back by an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: NOW });
  const find = newFind();
  await find();
  setAge(-2 * HALF_HOUR);
  issuer.publish(next);
  vi.advanceTimersByTime(30_000);
  expect(await find(next.kid), 'for an unknown key id').toEqual(FOUND);
  setAge(-4 * HALF_HOUR);
  issuer.publish(key);
  vi.advanceTimersByTime(HALF_HOUR);
  await expect(find(next.kid), 'a removed key').rejects.toMatchObject(UNKNOWN);
  issuer.respondWith(respond(500));
  setAge(-6 * HALF_HOUR);
  vi.advanceTimersByTime(2 * HALF_HOUR);
  await expect(find(), 'old keys').rejects.toMatchObject(UNAVAILABLE);
  setAge(-8 * HALF_HOUR);
  issuer.publish(key);
  vi.advanceTimersByTime(10_000);
  expect(await find(), 'after a failure').toEqual(FOUND);
});

test('asks a provider that is down again after 5 to 10 s, at another time in each instance', async () => {
  issuer.respondWith(respond(500));
  const instances = Array.from({ length: 20 }, () => newFind());
  const requestsAfter = async (ms: number) => {
    setAge(ms);
    await Promise.allSettled(instances.map((find) => find()));
    return issuer.requests.length;
  };
  expect([await requestsAfter(0), await requestsAfter(4999)]).toEqual([20, 20]);
  // Each of these numbers would mean that all instances have the same pause.
  expect([20, 40]).not.toContain(await requestsAfter(7500));
  expect(await requestsAfter(10_000)).toBe(40);
});

test('throws a failure without its stacks until the next attempt, because each request logs it', async () => {
  issuer.respondWith(respond(500));
  const find = newFind();
  const failure = () => find().catch(({ stack, cause }) => [stack, cause.stack, cause.message]);
  const message = `"${issuer.url}${METADATA}" responded with status 500, not 200.`;
  expect(await failure()).toEqual([expect.any(String), expect.any(String), message]);
  expect(await failure()).toEqual([undefined, undefined, message]);
});

test('throws a failure also if its causes are circular', async () => {
  const circular = new Error('circular');
  circular.cause = circular;
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(circular);
  onTestFinished(() => void vi.restoreAllMocks());
  const find = newFind();
  for (const _ of [1, 2]) expect((await find().catch((thrown) => thrown)).error).toBe(503);
});

function respond(status: number, content = ''): RequestListener {
  return (_, response) => response.writeHead(status, { location: '/new' }).end(content);
}
const metadata = (changes: object) =>
  respond(200, JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...changes }));
/** Responds with the metadata, and to the request for the keys with the listener. */
function keys(listener: RequestListener): RequestListener {
  return (request, response) => (request.url === '/keys' ? listener : metadata({}))(request, response);
}
const LONG = '🌱'.repeat(10_000);
test.each<[string, RequestListener, string, number]>([
  ['names another, long issuer', metadata({ issuer: LONG }), 'The issuer was "🌱', 1],
  ['has a jwks_uri without TLS', metadata({ jwks_uri: issuer.url.replace('https', 'http') }), 'an https URL', 1],
  ['has a long jwks_uri', metadata({ jwks_uri: `https://${LONG}` }), 'at most 1,000 characters', 1],
  ['redirects to its keys', keys(respond(302)), 'responded with status 302', 2],
  ['publishes no list of keys', keys(respond(200, '{"keys":7}')), 'JSON Web Key Set malformed', 2],
  ['sends long metadata', respond(200, ' '.repeat(50_001)), 'sent more than 50000 characters', 1],
])('fetches once, and throws 503 for 40 key ids, if the provider %s', async (_, listener, reason, requests) => {
  issuer.respondWith(listener);
  const errors = await findUnknown();
  expect(errors).toMatchObject([{ ...UNAVAILABLE, cause: { message: expect.stringContaining(reason) } }]);
  // The log contains it. `Cs` are lone surrogates.
  expect(errors[0].cause.message).toMatch(/^\P{Cs}{1,300}$/u);
  expect(issuer.requests).toHaveLength(requests);
});

test('throws 503 long before the 5 s of jose if the provider sends half of its keys', async () => {
  issuer.respondWith(keys((_, response) => response.write('{')));
  const start = performance.now();
  const error = { ...UNAVAILABLE, cause: { name: 'TimeoutError' } };
  await expect(new ProviderKeys(issuer.url).find()).rejects.toMatchObject(error);
  const milliseconds = performance.now() - start;
  expect(milliseconds).toBeGreaterThan(1000);
  expect(milliseconds).toBeLessThan(5000);
});
