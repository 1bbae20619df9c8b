import { generateKeyPairSync } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../../test/support/closed-at-end.ts';
import { discovery, type Issuer, newKey, published, startIssuer } from '../../../test/support/issuer.ts';
import { type KeySet, ProviderKeys } from './provider-keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const METADATA = '/.well-known/openid-configuration';
const UNFINISHED_HEADERS = 'HTTP/1.1 200 OK\r\nServer: ';
const UNFINISHED_BODY = 'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{';
const SWITCHING_PROTOCOLS = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </keys>\r\n\r\n';

const issuer = closedAtEnd(await startIssuer());
const key = newKey();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  issuer.publish(key);
  issuer.requests.length = 0;
  return () => vi.useRealTimers();
});

const newKeys = () => new ProviderKeys(issuer.url);
const kids = async (keySet: Promise<KeySet>) => (await keySet).findKey.jwks().keys.map(({ kid }) => kid);
const after = (ms: number) => vi.setSystemTime(NOW + ms);
const down = () => issuer.respondWith((_, response) => response.writeHead(500).end());

test('discovers the keys, and fetches them once for concurrent and later calls', async () => {
  const keys = newKeys();
  await Promise.all([keys.warmUp(), keys.get(), keys.refetch(), keys.get()]);
  for (let call = 0; call < 3; call += 1) expect(await kids(keys.get())).toEqual([key.kid]);
  expect(issuer.requests).toEqual([METADATA, '/keys']);
});

test('fetches the keys over one connection, which is then closed', async () => {
  const connections = issuer.connections.total;
  await newKeys().refetch();
  expect(issuer.requests).toHaveLength(2);
  expect(issuer.connections.total).toBe(connections + 1);
  await expect.poll(() => issuer.connections.open).toBe(0);
});

test.each([
  ['/tenant', `/tenant${METADATA}`],
  ['/tenant/', `/tenant${METADATA}`],
  ['/tenant', '/.well-known/oauth-authorization-server/tenant'],
  ['/', METADATA],
])('discovers the keys of the issuer %s at %s', async (path, metadata) => {
  const url = `${issuer.url}${path}`;
  issuer.respondWith(discovery(url, [published(key)], metadata));
  expect(await kids(new ProviderKeys(url).get())).toEqual([key.kid]);
  expect(issuer.requests).toContain(metadata);
});

test('makes one attempt at init, and two at the next call if that failed', async () => {
  const keys = newKeys();
  down();
  await keys.warmUp();
  const attempt = [METADATA, '/.well-known/oauth-authorization-server'];
  expect(issuer.requests).toEqual(attempt);
  await expect(keys.get()).rejects.toThrow('responded with status 500');
  expect(issuer.requests).toEqual([...attempt, ...attempt, ...attempt]);
});

test('fetches the keys again after ten minutes, and not before', async () => {
  const keys = newKeys();
  await keys.get();
  const next = newKey();
  issuer.publish(next);
  after(10 * MINUTE - 1);
  expect(await kids(keys.get())).toEqual([key.kid]);
  after(10 * MINUTE);
  expect(await kids(keys.get())).toEqual([next.kid]);
  expect(issuer.requests).toHaveLength(4);
});

test('`refetch` fetches the keys at most every five seconds', async () => {
  const keys = newKeys();
  await keys.warmUp();
  const next = newKey();
  issuer.publish(next);
  for (const ms of [0, 4999]) {
    after(ms);
    for (let call = 0; call < 2; call += 1) expect(await kids(keys.refetch())).toEqual([key.kid]);
  }
  expect(issuer.requests).toHaveLength(2);
  after(5000);
  for (let call = 0; call < 2; call += 1) expect(await kids(keys.refetch())).toEqual([next.kid]);
  expect(issuer.requests).toHaveLength(4);
  expect(await kids(keys.get())).toEqual([next.kid]);
});

test('while the provider is down, tries to fetch the keys once a minute', async () => {
  const keys = newKeys();
  await keys.warmUp();
  down();
  issuer.requests.length = 0;
  after(10 * MINUTE);
  for (let call = 0; call < 3; call += 1) expect(await kids(keys.get())).toEqual([key.kid]);
  const attempts = issuer.requests.length;
  after(11 * MINUTE - 1);
  await keys.get();
  expect(issuer.requests).toHaveLength(attempts);
  after(11 * MINUTE);
  expect(await kids(keys.get())).toEqual([key.kid]);
  expect(issuer.requests).toHaveLength(2 * attempts);
});

test('uses the keys until an hour after the last successful fetch', async () => {
  const keys = newKeys();
  await keys.warmUp();
  down();
  after(60 * MINUTE - 1);
  expect(await kids(keys.get())).toEqual([key.kid]);
  after(60 * MINUTE);
  // The last, failed fetch is recent, so its error is thrown without another fetch.
  await expect(keys.get()).rejects.toThrow('responded with status 500');
  after(60 * MINUTE + 5000);
  await expect(keys.get()).rejects.toThrow('responded with status 500');
});

test('fetches the keys again five seconds after a failure', async () => {
  const keys = newKeys();
  down();
  for (const _ of [1, 2]) await expect(keys.get()).rejects.toThrow('responded with status 500');
  issuer.publish(key);
  after(4999);
  await expect(keys.get()).rejects.toThrow('responded with status 500');
  after(5000);
  expect(await kids(keys.get())).toEqual([key.kid]);
});

test('makes a second attempt if the first fails', async () => {
  let requests = 0;
  issuer.respondWith((request, response) => {
    requests += 1;
    if (requests === 1) request.socket.destroy();
    // The first attempt's request to the path of RFC 8414.
    else if (requests === 2) response.writeHead(502).end();
    else discovery(issuer.url, [published(key)])(request, response);
  });
  expect(await kids(newKeys().get())).toEqual([key.kid]);
});

type Listener = Parameters<Issuer['respondWith']>[0];
const text =
  (content: string): Listener =>
  (_, response) =>
    response.writeHead(200).end(content);
const metadata = (changes: object) =>
  text(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...changes }));
const redirect: Listener = (_, response) => response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end();
const keySet =
  (content: string): Listener =>
  (request, response) =>
    (request.url === '/keys' ? text(content) : discovery(issuer.url, []))(request, response);
const keySetOf = (count: number) => JSON.stringify({ keys: Array(count).fill(published(key)) });
const NO_LIST = 'does not publish a list of at most 100 keys';
test.each<[string, () => Listener, string]>([
  ['responds with HTML', () => text('<!doctype html><title>Sign in</title>'), 'is not valid JSON'],
  ['responds with null', () => text('null'), 'The issuer was undefined'],
  ['redirects', () => redirect, 'responded with status 302'],
  ['names another issuer', () => metadata({ issuer: 'https://x.example' }), 'was "https://x.example"; it'],
  ['has no jwks_uri', () => metadata({ jwks_uri: undefined }), 'has no "jwks_uri"'],
  ['publishes keys without TLS', () => metadata({ jwks_uri: 'http://127.0.0.1/' }), 'Protocol "http:" not supported'],
  ['publishes no list of keys', () => keySet('{"keys":7}'), NO_LIST],
  ['publishes an empty list of keys', () => keySet('{"keys":[]}'), 'publishes no key that can verify a signature'],
  ['publishes 101 keys', () => keySet(keySetOf(101)), NO_LIST],
  ['publishes 10,000 keys', () => keySet(keySetOf(10_000)), 'responded with more than 262144 bytes'],
])('throws if the provider %s', async (_, listener, reason) => {
  issuer.respondWith(listener());
  // `toThrow` would pass if `undefined` is rejected.
  await expect(newKeys().get()).rejects.toMatchObject({ message: expect.stringContaining(reason) });
});

test('accepts up to 100 keys, in up to 256 KB', async () => {
  issuer.respondWith(keySet(keySetOf(1).padEnd(262_144)));
  expect(await kids(newKeys().get())).toEqual([key.kid]);
  issuer.respondWith(keySet(keySetOf(1).padEnd(262_145)));
  await expect(newKeys().get()).rejects.toThrow('responded with more than 262144 bytes');
  issuer.respondWith(keySet(keySetOf(100)));
  expect(await kids(newKeys().get())).toHaveLength(100);
});

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
test.each<[string, () => unknown]>([
  ['is not an object', () => 7],
  ['is null', () => null],
  ['is empty', () => ({})],
  ['is of an unknown type', () => ({ kty: 'XYZ' })],
  ['is symmetric', () => ({ kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' })],
  ['is private', () => key.privateKey.export({ format: 'jwk' })],
  ['is too short', () => generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })],
  ['is not on its curve', () => ({ ...ec, y: ec.x })],
  ['has no y coordinate', () => ({ ...ec, y: undefined })],
  ['is for encryption', () => ({ ...published(key), use: 'enc' })],
  ['has an operation of a private key', () => ({ ...published(key), key_ops: ['verify', 'sign'] })],
  ['is for an algorithm that is not accepted', () => ({ ...published(key), alg: 'RSA-OAEP' })],
])('ignores a key that %s', async (_, makeKey) => {
  const jwk = makeKey();
  const others = [published(key), { ...ec, kid: 'without alg' }];
  issuer.respondWith(keySet(JSON.stringify({ keys: [jwk, ...others] })));
  expect(await kids(newKeys().get())).toEqual([key.kid, 'without alg']);
  issuer.respondWith(keySet(JSON.stringify({ keys: [jwk] })));
  await expect(newKeys().get()).rejects.toThrow('publishes no key that can verify a signature');
});

test.each<[string, (socket: Duplex) => void, string]>([
  ['switches protocols', (socket) => socket.write(SWITCHING_PROTOCOLS), 'without a response'],
  ['switches protocols and closes', (socket) => socket.end(SWITCHING_PROTOCOLS), 'without a response'],
  ['closes the connection', (socket) => socket.end(), 'socket hang up'],
  ['resets the connection', (socket) => socket.destroy(), 'socket hang up'],
  ['closes the connection within the headers', (socket) => socket.end(UNFINISHED_HEADERS), 'socket hang up'],
  ['closes the connection within the body', (socket) => socket.end(UNFINISHED_BODY), 'aborted'],
])('throws if the provider %s', async (_, respond, reason) => {
  issuer.respondWith(({ socket }) => respond(socket));
  await expect(newKeys().get()).rejects.toThrow(reason);
});

describe.concurrent('throws soon', () => {
  const { timeout } = AbortSignal;
  beforeAll(() => {
    // A tenth of the time, so that the tests are quick.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 10));
  });

  /** Writes a text repeatedly, so that the connection is never idle. */
  const writeRepeatedly = (socket: Duplex, text: string) => {
    const interval = setInterval(() => socket.write(text), 50);
    socket.on('close', () => clearInterval(interval));
  };
  test.each<[string, (socket: Duplex) => void, string]>([
    ['the provider does not respond', () => {}, 'operation was aborted'],
    ['the provider closes after an early response', (socket) => socket.end(EARLY_HINTS), 'socket hang up'],
    [
      'the provider sends only early responses',
      (socket) => writeRepeatedly(socket, EARLY_HINTS),
      'operation was aborted',
    ],
    ['its headers never end', (socket) => writeRepeatedly(socket, UNFINISHED_HEADERS), 'operation was aborted'],
    ['the provider sends no body', (socket) => socket.write(UNFINISHED_BODY.slice(0, -1)), 'aborted'],
    ['its body never ends', (socket) => writeRepeatedly(socket, UNFINISHED_BODY), 'aborted'],
    // Repeated, because on a busy machine a connection can take longer than the timeout.
  ])('if %s', { retry: 2 }, async (_, respond, reason) => {
    const own = await startIssuer();
    own.respondWith(({ socket }) => respond(socket));
    const start = performance.now();
    await expect(new ProviderKeys(own.url).get()).rejects.toThrow(reason);
    // Two attempts take 0.3 s; the rest is for a slow machine.
    expect(performance.now() - start).toBeLessThan(2500);
    expect(AbortSignal.timeout).toHaveBeenLastCalledWith(1500);
    await own.close();
  });
});
