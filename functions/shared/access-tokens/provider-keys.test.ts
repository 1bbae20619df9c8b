import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../../test/support/closed-at-end.ts';
import { discovery, type Issuer, newKey, published, startIssuer } from '../../../test/support/issuer.ts';
import { lengthenTimeouts } from '../../../test/support/lengthen-timeouts.ts';
import { providerKeys } from './provider-keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const METADATA = '/.well-known/openid-configuration';

const issuer = closedAtEnd(await startIssuer());
const key = newKey();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  lengthenTimeouts();
  issuer.publish(key);
  issuer.requests.length = 0;
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

/** Returns a function that looks up a key by its id. */
function newKeys(url = issuer.url) {
  const keys = providerKeys(url);
  return ({ kid } = key) => keys({ alg: 'ES256', kid });
}
const after = (ms: number) => vi.setSystemTime(NOW + ms);
const FOUND = expect.objectContaining({ type: 'public' });
const UNKNOWN = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
const unavailable = (reason: string) => ({
  error: 503,
  message: 'The identity provider failed or did not respond. Try again.',
  cause: { message: expect.stringContaining(reason) },
});
// Both metadata URLs fail; the error is that of the first one.
const DOWN = unavailable(`${METADATA} responded with status 500`);
const down = () => issuer.respondWith((_, response) => response.writeHead(500).end());

test('fetches the keys once for concurrent and later lookups', async () => {
  const find = newKeys();
  expect(await Promise.all([find(), find()])).toEqual([FOUND, FOUND]);
  after(HOUR - 1);
  expect(await find()).toEqual(FOUND);
  expect(issuer.requests).toEqual([METADATA, '/keys']);
});

test.each([
  ['/tenant', `/tenant${METADATA}`],
  ['/tenant/', `/tenant${METADATA}`],
  ['/tenant', '/.well-known/oauth-authorization-server/tenant'],
])('discovers the keys of the issuer %s at %s', async (path, metadata) => {
  const url = `${issuer.url}${path}`;
  issuer.respondWith(discovery(url, [published(key)], metadata));
  expect(await newKeys(url)()).toEqual(FOUND);
  expect(issuer.requests).toContain(metadata);
});

test('fetches the keys for an unknown key id at most every 30 s', async () => {
  const [find, next] = [newKeys(), newKey()];
  await find();
  issuer.publish(next);
  after(29_999);
  await expect(find(next)).rejects.toMatchObject(UNKNOWN);
  expect(issuer.requests).toHaveLength(2);
  after(30_000);
  expect(await find(next)).toEqual(FOUND);
  for (let lookup = 0; lookup < 3; lookup += 1) await expect(find(newKey())).rejects.toMatchObject(UNKNOWN);
  expect(issuer.requests).toHaveLength(4);
});

test('uses the keys of a provider that is down for an hour, and then throws 503 until it is up', async () => {
  const find = newKeys();
  await find();
  down();
  after(HOUR - 1);
  await expect(find(newKey())).rejects.toMatchObject(DOWN);
  expect(await find()).toEqual(FOUND);
  after(HOUR);
  await expect(find()).rejects.toMatchObject(DOWN);
  issuer.publish(key);
  expect(await find()).toEqual(FOUND);
});

type Listener = Parameters<Issuer['respondWith']>[0];
const text =
  (content: string): Listener =>
  (_, response) =>
    response.writeHead(200).end(content);
const metadata = (changes: object) =>
  text(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...changes }));
const redirect: Listener = (_, response) => response.writeHead(302, { location: `${issuer.url}/new` }).end();
/** Responds with the metadata, and to the request for the keys with the listener. */
const keys =
  (listener: Listener): Listener =>
  (request, response) =>
    (request.url === '/keys' ? listener : discovery(issuer.url, []))(request, response);
const HTML = text('<!doctype html><title>Sign in</title>');
/** Sends the start of a response repeatedly, so that the connection is never idle. */
const endless: Listener = ({ socket }) => {
  const interval = setInterval(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{'), 50);
  socket.on('close', () => clearInterval(interval));
};
/** Responds with 101, after which node:https has neither a response nor an error. */
const upgrade: Listener = ({ socket }) =>
  void socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
test.each<[string, () => Listener, string]>([
  ['responds with null', () => text('null'), 'The issuer was undefined'],
  ['names another issuer', () => metadata({ issuer: 'https://x.example' }), 'was "https://x.example"; it'],
  ['has no jwks_uri', () => metadata({ jwks_uri: undefined }), 'has no "jwks_uri"'],
  ['publishes keys without TLS', () => metadata({ jwks_uri: 'http://127.0.0.1/' }), 'Protocol "http:" not supported'],
  ['does not have its keys', () => keys((_, response) => response.writeHead(404).end()), 'responded with status 404'],
  ['redirects to its keys', () => keys(redirect), 'responded with status 302'],
  ['responds with HTML instead of keys', () => keys(HTML), 'is not valid JSON'],
  ['publishes no list of keys', () => keys(text('{"keys":7}')), 'JSON Web Key Set malformed'],
  ['responds with 101', () => upgrade, 'closed the connection'],
  ['does not respond', () => () => {}, 'aborted due to timeout'],
  ['sends endless keys', () => keys(endless), 'aborted due to timeout'],
])('throws 503 within 1.5 s if the provider %s', async (_, listener, reason) => {
  vi.mocked(AbortSignal.timeout).mockRestore();
  issuer.respondWith(listener());
  const start = performance.now();
  await expect(newKeys()()).rejects.toMatchObject(unavailable(reason));
  // The rest is for a slow machine. jose's own limit would be 5 s.
  expect(performance.now() - start).toBeLessThan(4500);
  expect(issuer.requests).not.toContain('/new');
});
