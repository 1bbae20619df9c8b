import { generateKeyPairSync } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { discovery, type Issuer, newKey, published, startIssuer } from '../../../test/support/issuer.ts';
import { type KeySet, ProviderKeys } from './provider-keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const METADATA = '/.well-known/openid-configuration';
const UNFINISHED_HEADERS = 'HTTP/1.1 200 OK\r\nServer: ';
const UNFINISHED_BODY = 'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{';
const SWITCHING_PROTOCOLS = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </keys>\r\n\r\n';

let issuer: Issuer;
const key = newKey();
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.close());
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  issuer.publish(key);
  issuer.requests.length = 0;
  return () => vi.useRealTimers();
});

const asked = () => new ProviderKeys(issuer.url);
const kids = async (keySet: Promise<KeySet>) => (await keySet).keys.jwks().keys.map(({ kid }) => kid);
const after = (ms: number) => vi.setSystemTime(NOW + ms);
const down = () => issuer.answer((_, response) => response.writeHead(500).end());

describe('the keys of a provider', () => {
  test('are found by discovery, and fetched once for all who ask', async () => {
    const keys = asked();
    await Promise.all([keys.warmUp(), keys.current(), keys.latest(), keys.current()]);
    for (const _ of 'abc') expect(await kids(keys.current())).toEqual([key.kid]);
    expect(issuer.requests).toEqual([METADATA, '/keys']);
  });

  test('are fetched over one connection, which is closed after', async () => {
    const connections = issuer.connections.total;
    await asked().latest();
    expect(issuer.requests).toHaveLength(2);
    expect(issuer.connections.total).toBe(connections + 1);
    await expect.poll(() => issuer.connections.open).toBe(0);
  });

  test.each([
    ['/tenant', `/tenant${METADATA}`],
    ['/tenant/', `/tenant${METADATA}`],
    ['/tenant', '/.well-known/oauth-authorization-server/tenant'],
    ['/', METADATA],
  ])('of the issuer %s are found by %s', async (path, metadata) => {
    const named = `${issuer.url}${path}`;
    issuer.answer(discovery(named, [published(key)], metadata));
    expect(await kids(new ProviderKeys(named).current())).toEqual([key.kid]);
    expect(issuer.requests).toContain(metadata);
  });

  test('that cannot be fetched at init cost it one attempt, and are tried for again by who needs them', async () => {
    const keys = asked();
    down();
    await keys.warmUp();
    const attempt = [METADATA, '/.well-known/oauth-authorization-server'];
    expect(issuer.requests).toEqual(attempt);
    await expect(keys.current()).rejects.toThrow('answers status 500');
    expect(issuer.requests).toEqual([...attempt, ...attempt, ...attempt]);
  });

  test('are fetched anew after ten minutes, and not before', async () => {
    const keys = asked();
    await keys.current();
    const next = newKey();
    issuer.publish(next);
    after(10 * MINUTE - 1);
    expect(await kids(keys.current())).toEqual([key.kid]);
    after(10 * MINUTE);
    expect(await kids(keys.current())).toEqual([next.kid]);
    expect(issuer.requests).toHaveLength(4);
  });

  test('of now are fetched once in five seconds', async () => {
    const keys = asked();
    await keys.warmUp();
    const next = newKey();
    issuer.publish(next);
    for (const ms of [0, 4999]) {
      after(ms);
      for (const _ of 'ab') expect(await kids(keys.latest())).toEqual([key.kid]);
    }
    expect(issuer.requests).toHaveLength(2);
    after(5000);
    for (const _ of 'ab') expect(await kids(keys.latest())).toEqual([next.kid]);
    expect(issuer.requests).toHaveLength(4);
    expect(await kids(keys.current())).toEqual([next.kid]);
  });

  test('serve on while the provider is down, of which one request a minute finds out', async () => {
    const keys = asked();
    await keys.warmUp();
    down();
    issuer.requests.length = 0;
    after(10 * MINUTE);
    for (const _ of 'abc') expect(await kids(keys.current())).toEqual([key.kid]);
    const attempts = issuer.requests.length;
    after(11 * MINUTE - 1);
    await keys.current();
    expect(issuer.requests).toHaveLength(attempts);
    after(11 * MINUTE);
    expect(await kids(keys.current())).toEqual([key.kid]);
    expect(issuer.requests).toHaveLength(2 * attempts);
  });

  test('are trusted for not quite an hour without the provider', async () => {
    const keys = asked();
    await keys.warmUp();
    down();
    after(60 * MINUTE - 1);
    expect(await kids(keys.current())).toEqual([key.kid]);
    after(60 * MINUTE);
    // Asked for a moment before, they are not asked for again; but they are too old.
    await expect(keys.current()).rejects.toThrow('answers status 500');
    after(60 * MINUTE + 5000);
    await expect(keys.current()).rejects.toThrow('answers status 500');
  });

  test('that cannot be fetched are tried for again after five seconds', async () => {
    const keys = asked();
    down();
    for (const _ of 'ab') await expect(keys.current()).rejects.toThrow('answers status 500');
    issuer.publish(key);
    after(4999);
    await expect(keys.current()).rejects.toThrow('answers status 500');
    after(5000);
    expect(await kids(keys.current())).toEqual([key.kid]);
  });

  test('are asked for a second time where the first breaks off', async () => {
    let answered = 0;
    issuer.answer((request, response) => {
      answered += 1;
      if (answered === 1) request.socket.destroy();
      // For the path of RFC 8414, too.
      else if (answered === 2) response.writeHead(502).end();
      else discovery(issuer.url, [published(key)])(request, response);
    });
    expect(await kids(asked().current())).toEqual([key.kid]);
  });

  type Listener = Parameters<Issuer['answer']>[0];
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
    ['answers HTML', () => text('<!doctype html><title>Sign in</title>'), 'is not valid JSON'],
    ['answers with nothing', () => text('null'), ''],
    ['redirects elsewhere', () => redirect, 'answers status 302'],
    ['calls itself otherwise', () => metadata({ issuer: 'https://x.example' }), 'calls itself "https://x.example"'],
    ['has no keys’ address', () => metadata({ jwks_uri: undefined }), 'has no "jwks_uri"'],
    ['has keys without TLS', () => metadata({ jwks_uri: 'http://127.0.0.1/' }), 'Protocol "http:" not supported'],
    ['has no list of keys', () => keySet('{"keys":7}'), NO_LIST],
    ['has an empty list of keys', () => keySet('{"keys":[]}'), 'publishes no key that can verify a signature'],
    ['offers 101 keys', () => keySet(keySetOf(101)), NO_LIST],
    ['offers 10,000 keys', () => keySet(keySetOf(10_000)), 'answers more than 262144 bytes'],
  ])('of a provider that %s cannot be had', async (_, listener, why) => {
    issuer.answer(listener());
    // `toThrow` would pass if `undefined` is rejected.
    await expect(asked().current()).rejects.toMatchObject({ message: expect.stringContaining(why) });
  });

  test('may be as many as fit into 256 KB, and 100', async () => {
    issuer.answer(keySet(keySetOf(1).padEnd(262_144)));
    expect(await kids(asked().current())).toEqual([key.kid]);
    issuer.answer(keySet(keySetOf(1).padEnd(262_145)));
    await expect(asked().current()).rejects.toThrow('answers more than 262144 bytes');
    issuer.answer(keySet(keySetOf(100)));
    expect(await kids(asked().current())).toHaveLength(100);
  });

  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  test.each<[string, () => unknown]>([
    ['is no object', () => 7],
    ['is null', () => null],
    ['is empty', () => ({})],
    ['is of an unknown type', () => ({ kty: 'XYZ' })],
    ['is symmetric', () => ({ kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' })],
    ['is private', () => key.privateKey.export({ format: 'jwk' })],
    ['is too short', () => newKey(1024).publicKey.export({ format: 'jwk' })],
    ['is not on its curve', () => ({ ...ec, y: ec.x })],
    ['lacks a coordinate', () => ({ ...ec, y: undefined })],
    ['is for encryption', () => ({ ...published(key), use: 'enc' })],
    ['is for an operation that a public key does not have', () => ({ ...published(key), key_ops: ['verify', 'sign'] })],
    ['is for an algorithm that is not accepted', () => ({ ...published(key), alg: 'RSA-OAEP' })],
  ])('leave out one that %s', async (_, made) => {
    const jwk = made();
    const others = [published(key), { ...ec, kid: 'without alg' }];
    issuer.answer(keySet(JSON.stringify({ keys: [jwk, ...others] })));
    expect(await kids(asked().current())).toEqual([key.kid, 'without alg']);
    issuer.answer(keySet(JSON.stringify({ keys: [jwk] })));
    await expect(asked().current()).rejects.toThrow('publishes no key that can verify a signature');
  });

  describe.concurrent('of a provider that sends no complete response are waited for no longer than three seconds', () => {
    /** Writes a text ten times a second, so that the connection is never idle. */
    const drip = (socket: Duplex, text: string) => {
      const interval = setInterval(() => socket.write(text), 100);
      socket.on('close', () => clearInterval(interval));
    };
    test.each<[string, (socket: Duplex) => void, string]>([
      ['it is silent', () => {}, 'operation was aborted'],
      ['it switches protocols', (socket) => socket.write(SWITCHING_PROTOCOLS), 'without a response'],
      ['it switches protocols and closes', (socket) => socket.end(SWITCHING_PROTOCOLS), 'without a response'],
      ['it closes the connection', (socket) => socket.end(), 'socket hang up'],
      ['it resets the connection', (socket) => socket.destroy(), 'socket hang up'],
      ['it closes within the headers', (socket) => socket.end(UNFINISHED_HEADERS), 'socket hang up'],
      ['it closes within the body', (socket) => socket.end(UNFINISHED_BODY), 'aborted'],
      ['it closes after an early response', (socket) => socket.end(EARLY_HINTS), 'socket hang up'],
      ['it sends only early responses', (socket) => drip(socket, EARLY_HINTS), 'operation was aborted'],
      ['its headers never end', (socket) => drip(socket, UNFINISHED_HEADERS), 'operation was aborted'],
      ['its body never comes', (socket) => socket.write(UNFINISHED_BODY.slice(0, -1)), 'aborted'],
      ['its body never ends', (socket) => drip(socket, UNFINISHED_BODY), 'aborted'],
    ])('when %s', async (_, respond, why) => {
      const own = await startIssuer();
      own.answer(({ socket }) => respond(socket));
      const start = performance.now();
      await expect(new ProviderKeys(own.url).current()).rejects.toThrow(why);
      // The machine may be slow.
      expect(performance.now() - start).toBeLessThan(5000);
      await own.close();
    });
  });
});
