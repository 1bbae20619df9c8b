import { createHmac, generateKeyPairSync } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AUDIENCE, certifiedProvider, SCOPE } from '../../../test/support/certified-provider.ts';
import {
  discovery,
  type Issuer,
  newKey,
  part,
  published,
  type SigningKey,
  signed,
  startIssuer,
} from '../../../test/support/issuer.ts';
import { IdentityProvider } from './identity-provider.mjs';

const NOW = Date.UTC(2026, 0, 1);
const NOW_S = NOW / 1000;

let issuer: Issuer;
let key: SigningKey;
beforeAll(async () => {
  issuer = await startIssuer();
  key = newKey();
});
afterAll(() => issuer.close());
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  issuer.publish(key);
  issuer.requests.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

const provider = (settings: { audiences?: string[]; scope?: string } = {}) =>
  new IdentityProvider({ issuer: issuer.url, audiences: [AUDIENCE], scope: undefined, ...settings });

/** Claims of an access token that is valid for an hour, with what differs; `undefined` takes one away. */
const claims = (changes: object = {}) => ({
  iss: issuer.url,
  sub: 'a-partner',
  aud: AUDIENCE,
  exp: NOW_S + 3600,
  ...changes,
});
const token = (changes?: object, header?: object) => signed(key, claims(changes), { typ: 'at+jwt', ...header });

/** The first 12 hex digits of SHA-256 of "a-partner". */
const PARTNER = '5b499b127442';
const passes = () => ({ name: `${new URL(issuer.url).host}/${PARTNER}` });

describe('an access token of the provider passes', () => {
  test('under the name of its issuer and a digest of its subject, which is in no log', async () => {
    expect(await provider().verify(token())).toEqual(passes());
  });

  test('under a digest of its client where it has no subject', async () => {
    const verdict = await provider().verify(token({ sub: undefined, client_id: 'a-partner' }));
    expect(verdict).toEqual(passes());
  });

  test.each(['at+jwt', 'application/at+jwt', 'AT+JWT', 'JWT', undefined])('with the type %j', async (typ) => {
    expect(await provider().verify(token({}, { typ }))).toEqual(passes());
  });

  test.each<[string, object]>([
    ['Keycloak', { typ: 'Bearer' }],
    ['Cognito', { token_use: 'access', aud: undefined, client_id: AUDIENCE }],
    ['Cognito with an audience', { token_use: 'access', client_id: 'another' }],
  ])('as %s marks it', async (_, marks) => {
    expect(await provider().verify(token(marks))).toEqual(passes());
  });

  test('for one of several audiences', async () => {
    const verdict = await provider({ audiences: ['other', AUDIENCE] }).verify(token({ aud: ['another', AUDIENCE] }));
    expect(verdict).toEqual(passes());
  });

  test.each<[string, object]>([
    ['expired for not quite a minute', { exp: NOW_S - 59 }],
    ['valid from a minute later on', { nbf: NOW_S + 60 }],
  ])('%s, for clocks differ', async (_, times) => {
    expect(await provider().verify(token(times))).toEqual(passes());
  });

  test.each<object>([
    { scope: 'plants/read plants/write' },
    { scp: 'plants/write' },
    { scp: ['plants/read', 'plants/write'] },
    { roles: ['plants/write'] },
  ])('with the scope that is asked for: %j', async (scopes) => {
    expect(await provider({ scope: 'plants/write' }).verify(token(scopes))).toEqual(passes());
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pairs = {
    ...Object.fromEntries(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg) => [alg, rsa])),
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    EdDSA: generateKeyPairSync('ed25519'),
    Ed25519: generateKeyPairSync('ed25519'),
  };
  test.each(Object.keys(pairs))('signed with %s, by a key that is for it or for any', async (alg) => {
    const pair = pairs[alg as keyof typeof pairs];
    if (!pair) throw new Error(`There is no key for ${alg}.`);
    for (const only of [{ alg }, {}]) {
      issuer.answer(discovery(issuer.url, [{ ...(await exportJWK(pair.publicKey)), kid: alg, ...only }]));
      const jwt = await new SignJWT(claims()).setProtectedHeader({ alg, kid: alg }).sign(pair.privateKey);
      expect(await provider().verify(jwt)).toEqual(passes());
    }
  });
});

describe('a token is refused', () => {
  const other = newKey();
  const publicPem = () => key.publicKey.export({ type: 'spki', format: 'pem' });
  const withHmac = (secret: string | Buffer, alg = 'HS256') => {
    const parts = [part({ alg, kid: key.kid, typ: 'at+jwt' }), part(claims())].join('.');
    return `${parts}.${createHmac('sha256', secret).update(parts).digest('base64url')}`;
  };

  test.each<[string, () => string, string]>([
    ['without a signature', () => `${part({ alg: 'none' })}.${part(claims())}.`, 'alg'],
    [
      'with a signature of nothing',
      () => `${token().split('.').slice(0, 2).join('.')}.`,
      'signature verification failed',
    ],
    [
      'signed with the public key as a secret',
      () => withHmac(publicPem()),
      '"alg" (Algorithm) Header Parameter value not allowed',
    ],
    ['with an algorithm that is not its key’s', () => token({}, { alg: 'RS512' }), 'no applicable key'],
    ['with an algorithm that there is not', () => token({}, { alg: 'RS257' }), 'alg'],
    ['signed by another’s key', () => signed({ ...other, kid: key.kid }, claims()), 'signature verification failed'],
    ['of another key', () => signed(other, claims()), 'no applicable key'],
    [
      'that was changed',
      () => token().replace(/\.[^.]+\./, `.${part(claims({ sub: 'x' }))}.`),
      'signature verification failed',
    ],
    ['with a key of its own', () => token({}, { jwk: published(other) }), 'its header has a key of its own ("jwk")'],
    [
      'with the address of a key',
      () => token({}, { jku: `${issuer.url}/keys` }),
      'its header has a key of its own ("jku")',
    ],
    [
      'with the address of a certificate',
      () => token({}, { x5u: issuer.url }),
      'its header has a key of its own ("x5u")',
    ],
    ['with a critical header that nobody knows', () => token({}, { crit: ['x'], x: 1 }), '"x" is not recognized'],
    ['with a payload that is not encoded', () => token({}, { crit: ['b64'], b64: false }), ''],
    ['of another issuer', () => token({ iss: 'https://other.example.com' }), 'unexpected "iss" claim value'],
    ['of the issuer with a slash', () => token({ iss: `${issuer.url}/` }), 'unexpected "iss" claim value'],
    ['of no issuer', () => token({ iss: undefined }), 'missing required "iss" claim'],
    ['that never expires', () => token({ exp: undefined }), 'missing required "exp" claim'],
    ['with an expiry that is no number', () => token({ exp: '9999999999' }), '"exp" claim must be a number'],
    ['that has expired', () => token({ exp: NOW_S - 60 }), '"exp" claim timestamp check failed'],
    ['that is not valid yet', () => token({ nbf: NOW_S + 61 }), '"nbf" claim timestamp check failed'],
    [
      'for another API',
      () => token({ aud: 'https://other.example.com' }),
      'its claim "aud" does not name this service',
    ],
    ['for other APIs', () => token({ aud: ['a', 'b'] }), 'its claim "aud" does not name this service'],
    ['for none', () => token({ aud: undefined, client_id: AUDIENCE }), 'its claim "aud" does not name this service'],
    [
      'for more than this one',
      () => token({ aud: [`${AUDIENCE}/more`] }),
      'its claim "aud" does not name this service',
    ],
    [
      'of a Cognito client that is none of ours',
      () => token({ aud: undefined, token_use: 'access', client_id: 'x' }),
      'its claim "aud"',
    ],
    [
      'that is Cognito’s ID token',
      () => token({ token_use: 'id' }),
      'by its claim "token_use" it is not a bearer access token',
    ],
    ['that is Keycloak’s ID token', () => token({ typ: 'ID' }), 'by its claim "typ" it is not a bearer access token'],
    [
      'that is an ID token by its nonce',
      () => token({ nonce: 'n' }),
      'by its claim "nonce" it is not a bearer access token',
    ],
    [
      'that is an ID token by its at_hash',
      () => token({ at_hash: 'h' }),
      'by its claim "at_hash" it is not a bearer access token',
    ],
    [
      'that is an ID token by its c_hash',
      () => token({ c_hash: 'h' }),
      'by its claim "c_hash" it is not a bearer access token',
    ],
    [
      'that is bound to a key',
      () => token({ cnf: { jkt: 'x' } }),
      'by its claim "cnf" it is not a bearer access token',
    ],
    ['whose parts are no JSON', () => 'a.b.c', ''],
    ['whose claims are a list', () => signed(key, [1]), 'JWT Claims Set must be a top-level JSON object'],
  ])('%s', async (_, made, why) => {
    expect(await provider().verify(made())).toEqual({ refused: expect.stringContaining(why) });
  });

  test.each<unknown>([
    'id_token',
    'logout+jwt',
    'secevent+jwt',
    'dpop+jwt',
    'application/jwt',
    ' JWT',
    '',
    7,
    true,
    null,
    {},
    [],
    ['at+jwt'],
    ['JWT'],
  ])('with the type %j', async (typ) => {
    const refused = 'the "typ" of its header is not that of an access token';
    expect(await provider().verify(token({}, { typ }))).toEqual({ refused });
  });

  test.each<object>([
    { sub: 7 },
    { sub: null },
    { sub: ['a-partner'] },
    { sub: {}, client_id: 'a-partner' },
    { sub: undefined },
    { sub: undefined, client_id: 7 },
    { sub: undefined, client_id: ['a-partner'] },
  ])('without a string as its subject or client: %j', async (changes) => {
    const refused = 'its claim "sub" (without it, "client_id") is not a string';
    expect(await provider().verify(token(changes))).toEqual({ refused });
  });

  test.each<object>([{}, { scope: 'plants/read' }, { scope: 'plants/writer' }, { scp: [7] }, { roles: 'x' }])(
    'without the scope that is asked for: %j',
    async (scopes) => {
      expect(await provider({ scope: 'plants/write' }).verify(token(scopes))).toEqual({
        refused: 'it lacks the scope "plants/write"',
        missingScope: 'plants/write',
      });
    },
  );
});

describe('the provider’s keys', () => {
  const MINUTE = 60_000;
  const after = (ms: number) => vi.setSystemTime(NOW + ms);
  /** A token that outlives each test. */
  const lasting = (by = key) => signed(by, claims({ exp: NOW_S + 86_400 }));
  const refused = { refused: expect.stringContaining('no applicable key') };

  test('are fetched once for many tokens', async () => {
    const asked = provider();
    await asked.warmUp();
    for (const sub of ['a', 'b', 'c']) expect(await asked.verify(token({ sub }))).toHaveProperty('name');
    expect(issuer.requests).toHaveLength(2);
  });

  test('are used once in a minute for a token, and again when it has expired', async () => {
    const [asked, short] = [provider(), token({ exp: NOW_S - 30 })];
    await asked.warmUp();
    const verifies = vi.spyOn(crypto.subtle, 'verify');
    await asked.verify(short);
    after(29_999);
    expect(await asked.verify(short)).toEqual(passes());
    expect(verifies).toHaveBeenCalledOnce();
    after(30_000);
    expect(await asked.verify(short)).toHaveProperty('refused');
    await asked.verify(lasting());
    after(89_999);
    await asked.verify(lasting());
    expect(verifies).toHaveBeenCalledTimes(3);
    after(90_000);
    await asked.verify(lasting());
    expect(verifies).toHaveBeenCalledTimes(4);
    verifies.mockRestore();
  });

  test('when withdrawn let nobody in any more once they are fetched anew', async () => {
    const asked = provider();
    expect(await asked.verify(lasting())).toEqual(passes());
    issuer.publish(newKey());
    after(10 * MINUTE);
    expect(await asked.verify(lasting())).toEqual(refused);
  });

  test('when withdrawn let nobody in any more whom they let in a moment before', async () => {
    const asked = provider();
    expect(await asked.verify(lasting())).toEqual(passes());
    const next = newKey();
    issuer.publish(next);
    after(5000);
    expect(await asked.verify(lasting(next))).toEqual(passes());
    expect(await asked.verify(lasting())).toEqual(refused);
  });

  test('when withdrawn without a new one let nobody in, until there is one', async () => {
    const asked = provider();
    expect(await asked.verify(lasting())).toEqual(passes());
    issuer.publish();
    after(10 * MINUTE);
    for (const _ of 'ab') await expect(asked.verify(lasting())).rejects.toThrow('publishes no key');
    issuer.publish(key);
    after(10 * MINUTE + 5000);
    expect(await asked.verify(lasting())).toEqual(passes());
  });

  test('are fetched at once for a token of a new one', async () => {
    const asked = provider();
    await asked.verify(lasting());
    const next = newKey();
    issuer.publish(key, next);
    after(5000);
    expect(await asked.verify(lasting(next))).toEqual(passes());
  });

  test('of nobody let nobody in, whatever is sent', async () => {
    const asked = provider();
    await asked.warmUp();
    for (const sub of ['a', 'b']) expect(await asked.verify(signed(newKey(), claims({ sub })))).toEqual(refused);
    expect(issuer.requests).toHaveLength(2);
  });

  test('that cannot be fetched refuse nobody, not even who sends an unknown one', async () => {
    const [asked, without] = [provider(), provider()];
    await asked.warmUp();
    issuer.answer((_, response) => response.writeHead(500).end());
    await expect(without.warmUp()).resolves.toBeUndefined();
    await expect(without.verify(token())).rejects.toThrow('answers status 500');
    after(5000);
    await expect(asked.verify(signed(newKey(), claims()))).rejects.toThrow('answers status 500');
    expect(await asked.verify(lasting())).toEqual(passes());
  });

  test.each<[string, () => object]>([
    ['is private', () => key.privateKey.export({ format: 'jwk' })],
    ['is too short', () => published(newKey(1024))],
  ])('of which one %s: a token that names it is refused, and the others are used', async (_, jwk) => {
    issuer.answer(discovery(issuer.url, [{ ...jwk(), kid: 'unusable' }, published(key)]));
    const asked = provider();
    expect(await asked.verify(token({}, { kid: 'unusable' }))).toEqual(refused);
    expect(await asked.verify(token())).toEqual(passes());
  });

  test('of which none is usable refuse nobody', async () => {
    issuer.answer(discovery(issuer.url, [published(newKey(1024))]));
    await expect(provider().verify(token())).rejects.toThrow('publishes no key that can verify a signature');
  });
});

describe('of a certified provider', () => {
  beforeEach(() => {
    // It tells the time by its own clock.
    vi.useRealTimers();
  });

  test('an RFC 9068 access token passes, and no other audience’s or scope’s', async () => {
    const newToken = certifiedProvider(issuer, key);
    const settings = { issuer: issuer.url, audiences: [AUDIENCE], scope: SCOPE };
    const jwt = await newToken();
    expect(await new IdentityProvider(settings).verify(jwt)).toEqual(passes());
    for (const other of [{ audiences: ['https://other.example.com'] }, { scope: 'plants/delete' }])
      expect(await new IdentityProvider({ ...settings, ...other }).verify(jwt)).toHaveProperty('refused');
  });

  test('tokens of the old and of the new key pass while it changes its keys', async () => {
    const [old, next] = [key, newKey()];
    const settings = { issuer: issuer.url, audiences: [AUDIENCE], scope: undefined };
    const before = await certifiedProvider(issuer, old, next)();
    const asked = new IdentityProvider(settings);
    expect(await asked.verify(before)).toEqual(passes());
    const after = await certifiedProvider(issuer, next, old)();
    for (const jwt of [before, after]) expect(await asked.verify(jwt)).toEqual(passes());
  });
});
