import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { discovery, newKey, part, published, signed, startIssuer } from '../../test/support/issuer.ts';
import { JwtVerifier } from './jwt-verifier.ts';

const NOW = Date.UTC(2026, 0, 1);
const NOW_S = NOW / 1000;
const AUDIENCE = 'https://plants.example.com';

const issuer = closedAtEnd(await startIssuer());
const key = newKey();
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  // On a busy machine, a fetch can take longer than its limit.
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  issuer.publish(key);
  return () => vi.useRealTimers();
});

const newVerifier = (scope?: string) =>
  new JwtVerifier({ issuer: issuer.url, audiences: ['https://other.example.com', AUDIENCE], scope });
/** Fetches the keys once for the tests that share it. */
const verifier = newVerifier();

/** Claims of an access token that is valid for an hour, with changes; `undefined` removes a claim. */
const claims = (changes: object = {}) => ({
  iss: issuer.url,
  sub: 'a-partner',
  aud: AUDIENCE,
  exp: NOW_S + 3600,
  ...changes,
});
const token = (changes?: object, header?: object) => signed(key, claims(changes), { typ: 'at+jwt', ...header });

/** The error for a token that is not valid. */
const rejected = (reason: string) => ({
  error: 401,
  message: expect.stringContaining(reason),
  headers: { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
});

/** The first 12 hex digits of SHA-256 of "a-partner". */
const PARTNER = '5b499b127442';
const accepted = () => `${new URL(issuer.url).host}/${PARTNER}`;

describe('accepts an access token', () => {
  test('with the name HOST/DIGEST, from the issuer’s host and a digest of the subject, or else of the client’s id', async () => {
    expect(await verifier.verify(token())).toBe(accepted());
    expect(await verifier.verify(token({ sub: undefined, client_id: 'a-partner' }))).toBe(accepted());
  });

  test.each<[object, object]>([
    ...['at+jwt', 'application/at+jwt', 'jwt', 'AT+JWT', undefined].map((typ): [object, object] => [{}, { typ }]),
    // Keycloak, Cognito, and Cognito with an audience.
    [{ typ: 'Bearer' }, {}],
    [{ token_use: 'access', aud: undefined, client_id: AUDIENCE }, {}],
    [{ token_use: 'access', client_id: 'another' }, {}],
    [{ aud: ['another', AUDIENCE] }, {}],
    // Clocks may differ by less than a minute.
    [{ exp: NOW_S - 59 }, {}],
    [{ nbf: NOW_S + 60 }, {}],
  ])('with the claims %o and the header %o', async (changes, header) => {
    expect(await verifier.verify(token(changes, header))).toBe(accepted());
  });

  test.each<object>([
    { scope: 'plants/read plants/write' },
    { scp: 'plants/write' },
    { scp: ['plants/read', 'plants/write'] },
    { roles: ['plants/write'] },
  ])('with the required scope: %j', async (scopes) => {
    expect(await newVerifier('plants/write').verify(token(scopes))).toBe(accepted());
  });

  const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
  const EC = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
  test.each([...RSA, ...EC])('signed with %s, by a key without "alg"', async (alg) => {
    const pair = RSA.includes(alg) ? rsa : await generateKeyPair(alg, { extractable: true });
    issuer.respondWith(discovery(issuer.url, [{ ...(await exportJWK(pair.publicKey)), kid: alg }]));
    const jwt = await new SignJWT(claims()).setProtectedHeader({ alg, kid: alg }).sign(pair.privateKey);
    expect(await newVerifier().verify(jwt)).toBe(accepted());
  });
});

const WRONG_SIGNATURE = 'signature verification failed';
const NO_KEY = 'no applicable key';

describe('rejects a token', () => {
  const other = newKey();
  const withHmac = (secret: string | Buffer) => {
    const parts = [part({ alg: 'HS256', kid: key.kid, typ: 'at+jwt' }), part(claims())].join('.');
    return `${parts}.${createHmac('sha256', secret).update(parts).digest('base64url')}`;
  };
  const publicPem = () => key.publicKey.export({ type: 'spki', format: 'pem' });

  test.each<[string, () => string, string]>([
    ['without a signature', () => `${part({ alg: 'none' })}.${part(claims())}.`, 'alg'],
    ['signed with the public key as an HMAC secret', () => withHmac(publicPem()), 'value not allowed'],
    ['signed by another key with the same id', () => signed({ ...other, kid: key.kid }, claims()), WRONG_SIGNATURE],
    ['signed by an unknown key', () => signed(other, claims()), NO_KEY],
    ['signed by the key in its header', () => signed(other, claims(), { jwk: published(other) }), NO_KEY],
    ['that is not JSON', () => 'a.b.c', ''],
  ])('%s', async (_, makeToken, reason) => {
    await expect(verifier.verify(makeToken())).rejects.toMatchObject(rejected(reason));
  });

  // Every client can name such a key, so it must not cause an internal error.
  const UNUSABLE = 'its key is not usable';
  const ec = published(key);
  test.each<[string, string, () => object, string]>([
    ['is too short', 'RS256', () => jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), UNUSABLE],
    ['is not on its curve', 'ES256', () => ({ ...ec, y: jwkOf(key.publicKey).x }), UNUSABLE],
    ['has no y coordinate', 'ES256', () => ({ ...ec, y: undefined }), UNUSABLE],
    ['is private', 'ES256', () => jwkOf(key.privateKey), 'must be public keys'],
    ['is for encryption', 'ES256', () => ({ ...ec, use: 'enc' }), NO_KEY],
    ['is symmetric', 'HS256', () => ({ kty: 'oct', k: 'c2VjcmV0' }), 'value not allowed'],
  ])('of a published key that %s, and accepts those of other keys', async (_, alg, makeKey, reason) => {
    issuer.respondWith(discovery(issuer.url, [ec, { ...makeKey(), kid: 'unusable' }]));
    const verifier = newVerifier();
    const jwt = token({}, { alg, kid: 'unusable' });
    await expect(verifier.verify(jwt)).rejects.toMatchObject(rejected(reason));
    expect(await verifier.verify(token())).toBe(accepted());
  });

  const NO_SUBJECT = 'its claim "sub" (or "client_id", without "sub") is not a string';
  const WRONG_AUDIENCE = 'its claim "aud" does not name this service';
  const otherUse = (claim: string) => `its claim "${claim}" shows that it is not a bearer access token`;
  test.each<[object, string]>([
    [{ iss: 'https://other.example.com' }, 'unexpected "iss" claim value'],
    [{ iss: `${issuer.url}/` }, 'unexpected "iss" claim value'],
    [{ exp: undefined }, 'missing required "exp" claim'],
    [{ exp: NOW_S - 60 }, '"exp" claim timestamp check failed'],
    [{ nbf: NOW_S + 61 }, '"nbf" claim timestamp check failed'],
    [{ aud: 'https://another.example.com' }, WRONG_AUDIENCE],
    [{ aud: undefined, client_id: AUDIENCE }, WRONG_AUDIENCE],
    [{ aud: [`${AUDIENCE}/more`] }, WRONG_AUDIENCE],
    // Another Cognito client, an ID token of Cognito, and an ID token of Keycloak.
    [{ aud: undefined, token_use: 'access', client_id: 'x' }, WRONG_AUDIENCE],
    [{ token_use: 'id' }, otherUse('token_use')],
    [{ typ: 'ID' }, otherUse('typ')],
    ...['nonce', 'at_hash', 'c_hash', 'cnf'].map((claim): [object, string] => [{ [claim]: 'x' }, otherUse(claim)]),
    [{ sub: 7 }, NO_SUBJECT],
    [{ sub: undefined }, NO_SUBJECT],
    [{ sub: undefined, client_id: 7 }, NO_SUBJECT],
  ])('with the claims %o', async (changes, reason) => {
    await expect(verifier.verify(token(changes))).rejects.toMatchObject(rejected(reason));
  });

  test.each<unknown>(['id+jwt', 'at-jwt', 'at+jwt ', '', 7, null, ['JWT']])('with the type %j', async (typ) => {
    const reason = 'the "typ" of its header is not that of an access token';
    await expect(verifier.verify(token({}, { typ }))).rejects.toMatchObject(rejected(reason));
  });

  test.each<object>([{}, { scope: 'plants/read' }, { scope: 'plants/writer' }, { scp: [7] }, { roles: 'x' }])(
    'without the required scope: %j',
    async (scopes) => {
      await expect(newVerifier('plants/write').verify(token(scopes))).rejects.toMatchObject(
        rejected('The access token is not valid: it does not have the scope "plants/write".'),
      );
    },
  );
});

test('throws 503 while the keys cannot be fetched, and accepts valid tokens afterwards', async () => {
  issuer.respondWith((_, response) => response.writeHead(500).end());
  const verifier = newVerifier();
  await expect(verifier.fetchKeys()).resolves.toBeUndefined();
  const unavailable = { error: 503, headers: { 'Retry-After': '5' } };
  await expect(verifier.verify(token())).rejects.toMatchObject(unavailable);
  issuer.publish(key);
  vi.setSystemTime(NOW + 10_000);
  expect(await verifier.verify(token())).toBe(accepted());
});
