import { createHmac } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AUDIENCE, certifiedProvider, SCOPE } from '../../../test/support/certified-provider.ts';
import { discovery, type Issuer, newKey, part, published, signed, startIssuer } from '../../../test/support/issuer.ts';
import { IdentityProvider } from './identity-provider.mjs';

const NOW = Date.UTC(2026, 0, 1);
const NOW_S = NOW / 1000;

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
  ])('with the required scope: %j', async (scopes) => {
    expect(await provider({ scope: 'plants/write' }).verify(token(scopes))).toEqual(passes());
  });

  const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
  const EC = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
  test.each([...RSA, ...EC])('signed with %s, by a key that is for it or for any', async (alg) => {
    const pair = await generateKeyPair(alg, { extractable: true });
    for (const only of [{ alg }, {}]) {
      issuer.answer(discovery(issuer.url, [{ ...(await exportJWK(pair.publicKey)), kid: alg, ...only }]));
      const jwt = await new SignJWT(claims()).setProtectedHeader({ alg, kid: alg }).sign(pair.privateKey);
      expect(await provider().verify(jwt)).toEqual(passes());
    }
  });
});

describe('a token is refused', () => {
  const other = newKey();
  const withHmac = (secret: string | Buffer) => {
    const parts = [part({ alg: 'HS256', kid: key.kid, typ: 'at+jwt' }), part(claims())].join('.');
    return `${parts}.${createHmac('sha256', secret).update(parts).digest('base64url')}`;
  };
  const publicPem = () => key.publicKey.export({ type: 'spki', format: 'pem' });
  const UNSIGNED = 'signature verification failed';
  const NO_KEY = 'no applicable key';

  test.each<[string, () => string, string]>([
    ['without a signature', () => `${part({ alg: 'none' })}.${part(claims())}.`, 'alg'],
    ['with a signature of nothing', () => token().replace(/[^.]+$/, ''), UNSIGNED],
    ['signed with the public key as a secret', () => withHmac(publicPem()), 'value not allowed'],
    ['with an algorithm that is not its key’s', () => token({}, { alg: 'RS512' }), NO_KEY],
    ['with an algorithm that there is not', () => token({}, { alg: 'RS257' }), 'alg'],
    ['signed by another’s key', () => signed({ ...other, kid: key.kid }, claims()), UNSIGNED],
    ['of another key', () => signed(other, claims()), NO_KEY],
    ['that was changed', () => token().replace(/\.[^.]+\./, `.${part(claims({ sub: 'x' }))}.`), UNSIGNED],
    ['whose parts are no JSON', () => 'a.b.c', ''],
    ['whose claims are a list', () => signed(key, [1]), 'JWT Claims Set must be a top-level JSON object'],
  ])('%s', async (_, made, why) => {
    expect(await provider().verify(made())).toEqual({ refused: expect.stringContaining(why) });
  });

  const ownKey = (header: string) => `its header has a key of its own ("${header}")`;
  test.each<[object, string]>([
    [{ jwk: published(other) }, ownKey('jwk')],
    [{ jku: 'https://other.example.com/keys' }, ownKey('jku')],
    [{ x5u: 'https://other.example.com' }, ownKey('x5u')],
    [{ crit: ['x'], x: 1 }, '"x" is not recognized'],
    [{ crit: ['b64'], b64: false }, ''],
  ])('with the header %j', async (header, why) => {
    expect(await provider().verify(token({}, header))).toEqual({ refused: expect.stringContaining(why) });
  });

  const NO_SUBJECT = 'its claim "sub" (without it, "client_id") is not a string';
  const NOT_FOR_US = 'its claim "aud" does not name this service';
  const ofOthers = (claim: string) => `by its claim "${claim}" it is not a bearer access token`;
  test.each<[object, string]>([
    [{ iss: 'https://other.example.com' }, 'unexpected "iss" claim value'],
    [{ iss: undefined }, 'missing required "iss" claim'],
    [{ exp: undefined }, 'missing required "exp" claim'],
    [{ exp: '9999999999' }, '"exp" claim must be a number'],
    [{ exp: NOW_S - 60 }, '"exp" claim timestamp check failed'],
    [{ nbf: NOW_S + 61 }, '"nbf" claim timestamp check failed'],
    [{ aud: 'https://other.example.com' }, NOT_FOR_US],
    [{ aud: ['a', 'b'] }, NOT_FOR_US],
    [{ aud: undefined, client_id: AUDIENCE }, NOT_FOR_US],
    [{ aud: [`${AUDIENCE}/more`] }, NOT_FOR_US],
    // A Cognito client that is none of ours, Cognito's ID token, and Keycloak's.
    [{ aud: undefined, token_use: 'access', client_id: 'x' }, NOT_FOR_US],
    [{ token_use: 'id' }, ofOthers('token_use')],
    [{ typ: 'ID' }, ofOthers('typ')],
    [{ nonce: 'n' }, ofOthers('nonce')],
    [{ at_hash: 'h' }, ofOthers('at_hash')],
    [{ c_hash: 'h' }, ofOthers('c_hash')],
    [{ cnf: { jkt: 'x' } }, ofOthers('cnf')],
    [{ sub: 7 }, NO_SUBJECT],
    [{ sub: null }, NO_SUBJECT],
    [{ sub: ['a-partner'] }, NO_SUBJECT],
    [{ sub: {}, client_id: 'a-partner' }, NO_SUBJECT],
    [{ sub: undefined }, NO_SUBJECT],
    [{ sub: undefined, client_id: 7 }, NO_SUBJECT],
    [{ sub: undefined, client_id: ['a-partner'] }, NO_SUBJECT],
  ])('with the claims %j', async (changes, why) => {
    expect(await provider().verify(token(changes))).toEqual({ refused: expect.stringContaining(why) });
  });

  test('of the issuer with a slash', async () => {
    const refused = 'unexpected "iss" claim value';
    expect(await provider().verify(token({ iss: `${issuer.url}/` }))).toEqual({ refused });
  });

  const TYPES = ['id_token', 'logout+jwt', 'secevent+jwt', 'dpop+jwt', 'application/jwt', ' JWT', ''];
  test.each<unknown>([...TYPES, 7, true, null, {}, [], ['at+jwt'], ['JWT']])('with the type %j', async (typ) => {
    const refused = 'the "typ" of its header is not that of an access token';
    expect(await provider().verify(token({}, { typ }))).toEqual({ refused });
  });

  test.each<object>([{}, { scope: 'plants/read' }, { scope: 'plants/writer' }, { scp: [7] }, { roles: 'x' }])(
    'without the required scope: %j',
    async (scopes) => {
      expect(await provider({ scope: 'plants/write' }).verify(token(scopes))).toEqual({
        refused: 'it lacks the scope "plants/write"',
        missingScope: 'plants/write',
      });
    },
  );
});

describe('the provider’s keys', () => {
  const after = (ms: number) => vi.setSystemTime(NOW + ms);
  /** A token that outlives each test. */
  const lasting = (by = key) => signed(by, claims({ exp: NOW_S + 86_400 }));
  const refused = { refused: expect.stringContaining('no applicable key') };

  test('are used once in a minute for a token, and again when it has expired', async () => {
    const [verifier, short] = [provider(), token({ exp: NOW_S - 30 })];
    await verifier.warmUp();
    const verifies = vi.spyOn(crypto.subtle, 'verify');
    await verifier.verify(short);
    after(29_999);
    expect(await verifier.verify(short)).toEqual(passes());
    expect(verifies).toHaveBeenCalledOnce();
    after(30_000);
    expect(await verifier.verify(short)).toHaveProperty('refused');
    await verifier.verify(lasting());
    after(89_999);
    await verifier.verify(lasting());
    expect(verifies).toHaveBeenCalledTimes(3);
    after(90_000);
    await verifier.verify(lasting());
    expect(verifies).toHaveBeenCalledTimes(4);
    verifies.mockRestore();
  });

  test('are fetched at once for a token of a new key, and the withdrawn key’s tokens are refused', async () => {
    const verifier = provider();
    expect(await verifier.verify(lasting())).toEqual(passes());
    const next = newKey();
    issuer.publish(next);
    after(5000);
    expect(await verifier.verify(lasting(next))).toEqual(passes());
    expect(await verifier.verify(lasting())).toEqual(refused);
  });

  test('are withdrawn without a new key: every token is a failure until there is one', async () => {
    const verifier = provider();
    expect(await verifier.verify(lasting())).toEqual(passes());
    issuer.publish();
    after(600_000);
    for (const _ of 'ab') await expect(verifier.verify(lasting())).rejects.toThrow('publishes no key');
    issuer.publish(key);
    after(605_000);
    expect(await verifier.verify(lasting())).toEqual(passes());
  });

  test('are not fetched for each token of an unknown key', async () => {
    const verifier = provider();
    await verifier.warmUp();
    for (const sub of ['a', 'b']) expect(await verifier.verify(signed(newKey(), claims({ sub })))).toEqual(refused);
    expect(issuer.requests).toHaveLength(2);
  });

  test('are not available: a token that needs them is a failure, and not refused', async () => {
    const [verifier, without] = [provider(), provider()];
    await verifier.warmUp();
    issuer.answer((_, response) => response.writeHead(500).end());
    await expect(without.warmUp()).resolves.toBeUndefined();
    await expect(without.verify(token())).rejects.toThrow('answers status 500');
    after(5000);
    await expect(verifier.verify(signed(newKey(), claims()))).rejects.toThrow('answers status 500');
    expect(await verifier.verify(lasting())).toEqual(passes());
  });

  test('have one that is too short: a token that names it is refused, and the others are used', async () => {
    issuer.answer(discovery(issuer.url, [{ ...published(newKey(1024)), kid: 'unusable' }, published(key)]));
    const verifier = provider();
    expect(await verifier.verify(token({}, { kid: 'unusable' }))).toEqual(refused);
    expect(await verifier.verify(token())).toEqual(passes());
  });
});

test('an RFC 9068 access token of a certified provider passes, and no other audience’s or scope’s', async () => {
  // The provider tells the time by its own clock.
  vi.useRealTimers();
  const jwt = await certifiedProvider(issuer, key)();
  const settings = { audiences: [AUDIENCE], scope: SCOPE };
  expect(await provider(settings).verify(jwt)).toEqual(passes());
  for (const other of [{ audiences: ['https://other.example.com'] }, { scope: 'plants/delete' }])
    expect(await provider({ ...settings, ...other }).verify(jwt)).toHaveProperty('refused');
});
