import type { RequestListener } from 'node:http';
import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { discovery, newKey, published, startIssuer } from '../../test/support/issuer.ts';
import { providerKeys } from './provider-keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const HALF_HOUR = 1_800_000;
const METADATA = '/.well-known/openid-configuration';

const issuer = closedAtEnd(await startIssuer());
const key = newKey();
/** Ends the time that a fetch may take. Otherwise it never ends, because a busy machine is slow. */
let expire: () => void;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const time = new AbortController();
  expire = () => time.abort(new Error('The time is up.'));
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
  issuer.publish(key);
  issuer.requests.length = 0;
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

/** Returns a function that looks up a key by its id. */
function newKeys(url = issuer.url) {
  const find = providerKeys(url);
  return (kid = key.kid) => find({ alg: 'ES256', kid });
}
/** Looks up 40 unknown key ids at once. Returns the errors without repeats. */
async function findUnknown(find: ReturnType<typeof newKeys>) {
  const lookups = await Promise.all(
    Array.from({ length: 40 }, (_, index) => find(`unknown-${index}`).catch((thrown) => thrown)),
  );
  return [...new Set(lookups)];
}
const after = (ms: number) => vi.setSystemTime(NOW + ms);
const FOUND = expect.objectContaining({ type: 'public' });
const UNKNOWN = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
const UNAVAILABLE = { error: 503, message: 'The identity provider failed or did not respond. Try again.' };

test('fetches the keys once for concurrent and later lookups, and again when they are 30 minutes old', async () => {
  const [find, next] = [newKeys(), newKey()];
  expect(await Promise.all([find(), find()])).toEqual([FOUND, FOUND]);
  issuer.publish(next);
  after(HALF_HOUR - 1);
  expect(await find()).toEqual(FOUND);
  expect(issuer.requests).toEqual([METADATA, '/keys']);
  after(HALF_HOUR);
  await Promise.all([expect(find()).rejects.toMatchObject(UNKNOWN), expect(find(next.kid)).resolves.toEqual(FOUND)]);
  expect(issuer.requests).toHaveLength(4);
});

test.each(['/tenant', '/tenant/'])('discovers the keys of the issuer %s', async (path) => {
  const url = `${issuer.url}${path}`;
  issuer.respondWith(discovery(url, [published(key)]));
  expect(await newKeys(url)()).toEqual(FOUND);
  expect(issuer.requests).toEqual([`/tenant${METADATA}`, '/keys']);
});

test('fetches the keys for unknown key ids at most every 30 s', async () => {
  const [find, next] = [newKeys(), newKey()];
  await find();
  issuer.publish(next);
  after(29_999);
  await expect(find(next.kid)).rejects.toMatchObject(UNKNOWN);
  expect(issuer.requests).toHaveLength(2);
  after(30_000);
  await findUnknown(find);
  expect(await find(next.kid)).toEqual(FOUND);
  expect(issuer.requests).toHaveLength(4);
});

test('asks a provider that is down every 5 to 10 s, uses its keys for an hour, and then throws 503', async () => {
  const find = newKeys();
  await find();
  issuer.requests.length = 0;
  issuer.respondWith(respond(500));
  vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValue(0.99);
  const foundAfter = async (ms: number, requests: number) => {
    after(ms);
    expect(await Promise.all([find(), find()])).toEqual([FOUND, FOUND]);
    expect(issuer.requests).toHaveLength(requests);
  };
  await foundAfter(HALF_HOUR, 1);
  await foundAfter(HALF_HOUR + 4999, 1);
  await foundAfter(HALF_HOUR + 5000, 2);
  await foundAfter(HALF_HOUR + 14_949, 2);
  await foundAfter(2 * HALF_HOUR - 1, 3);
  after(2 * HALF_HOUR);
  issuer.publish(key);
  await expect(find()).rejects.toMatchObject(UNAVAILABLE);
  await foundAfter(2 * HALF_HOUR + 9949, 5);
});

test('keeps no connection, which could die while Lambda freezes the function', async () => {
  const connections: unknown[] = [];
  issuer.respondWith((request, response) => {
    connections.push(request.headers.connection);
    discovery(issuer.url, [published(key)])(request, response);
  });
  await newKeys()();
  expect(connections).toEqual(['close', 'close']);
});

function respond(status: number, content = ''): RequestListener {
  return (_, response) => response.writeHead(status, { location: '/new' }).end(content);
}
function metadata(changes: object): RequestListener {
  return respond(200, JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...changes }));
}
/** Responds with the metadata, and to the request for the keys with the listener. */
function keys(listener: RequestListener): RequestListener {
  return (request, response) => (request.url === '/keys' ? listener : metadata({}))(request, response);
}
const LONG = '🌱'.repeat(10_000);
test.each<[string, RequestListener, string, number]>([
  ['fails', respond(500), 'responded with status 500', 1],
  ['closes the connection', ({ socket }) => socket.destroy(), 'fetch failed', 1],
  ['does not respond', () => expire(), 'The time is up.', 1],
  ['names another, long issuer', metadata({ issuer: LONG }), 'The issuer was "🌱', 1],
  ['has a jwks_uri without TLS', metadata({ jwks_uri: issuer.url.replace('https', 'http') }), 'an https URL', 1],
  ['has a long jwks_uri', metadata({ jwks_uri: `https://${LONG}` }), 'at most 1,000 characters', 1],
  ['redirects to its keys', keys(respond(302)), 'responded with status 302', 2],
  ['responds with HTML instead of keys', keys(respond(200, '<!doctype html>')), 'is not valid JSON', 2],
  ['publishes no list of keys', keys(respond(200, '{"keys":7}')), 'JSON Web Key Set malformed', 2],
  ['sends long metadata', respond(200, ' '.repeat(50_001)), 'sent more than 50000 characters', 1],
  ['sends many keys', keys(respond(200, ' '.repeat(50_001))), 'sent more than 50000 characters', 2],
  ['sends half of its keys', keys((_, response) => response.write('{', expire)), 'The time is up.', 2],
])(
  'fetches once, with a limit of 1.5 s, and throws 503 for 40 key ids if the provider %s',
  async (_, listener, reason, requests) => {
    issuer.respondWith(listener);
    const [error, ...others] = await findUnknown(newKeys());
    expect(AbortSignal.timeout).toHaveBeenCalledWith(1500);
    expect(others).toEqual([]);
    expect(error).toMatchObject({ ...UNAVAILABLE, cause: { message: expect.stringContaining(reason) } });
    expect(error.cause.message.length).toBeLessThan(300);
    expect(error.cause.message.isWellFormed()).toBe(true);
    expect(issuer.requests).toHaveLength(requests);
  },
);
