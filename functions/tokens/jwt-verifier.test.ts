import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { newKey, part, signed, startIssuer } from '../../test/support/issuer.ts';
import { JwtVerifier } from './jwt-verifier.ts';

const NOW_S = Date.UTC(2026, 0, 1) / 1000;
const AUDIENCE = 'https://plants.example.com';

const issuer = closedAtEnd(await startIssuer());
const key = newKey();
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_S * 1000 });
  // On a busy machine, a fetch can take longer than its limit.
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  issuer.publish(key);
  return () => vi.useRealTimers();
});

const newVerifier = (scope?: string) =>
  new JwtVerifier({ issuer: issuer.url, audiences: ['https://other.example.com', AUDIENCE], scope });
/** Fetches the keys once for the tests that share it. */
const verifier = newVerifier();

/** The claims of an access token that is valid for an hour. */
const CLAIMS = { iss: issuer.url, sub: 'a-partner', aud: AUDIENCE, exp: NOW_S + 3600 };
/** Returns a token with these changes of its claims and its header; `undefined` removes one. */
const token = (claims?: object, header?: object) => signed(key, { ...CLAIMS, ...claims }, { typ: 'at+jwt', ...header });

/** The error for a token that is not valid. */
const rejected = (reason: string) => ({
  error: 401,
  message: expect.stringContaining(reason),
  headers: { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
});

/** The issuer's host, and the first 12 hex digits of SHA-256 of "a-partner". */
const ACCEPTED = `${new URL(issuer.url).host}/5b499b127442`;

/** `scope` is the one that the service requires. */
type Case = { claims?: object; header?: object; scope?: string };
const verify = ({ claims, header, scope }: Case) =>
  (scope === undefined ? verifier : newVerifier(scope)).verify(token(claims, header));
const SCOPE = { scope: 'plants/write' };

test.each<Case>([
  ...['at+jwt', 'application/at+jwt', 'jwt', 'AT+JWT', undefined].map((typ) => ({ header: { typ } })),
  { claims: { sub: undefined, client_id: 'a-partner' } },
  // Keycloak, Cognito, and Cognito with an audience.
  { claims: { typ: 'Bearer' } },
  { claims: { token_use: 'access', aud: undefined, client_id: AUDIENCE } },
  { claims: { token_use: 'access', client_id: 'another' } },
  { claims: { aud: ['another', AUDIENCE] } },
  // Clocks may differ by less than a minute.
  { claims: { exp: NOW_S - 59 } },
  { claims: { scope: 'plants/read plants/write' }, ...SCOPE },
  { claims: { scp: ['plants/read', 'plants/write'] }, ...SCOPE },
  { claims: { roles: ['plants/write'] }, ...SCOPE },
])('accepts an access token with %o, and returns a name without its subject', async (changes) => {
  expect(await verify(changes)).toBe(ACCEPTED);
});

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const EC = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
test.each([...RSA, ...EC])('accepts an access token signed with %s, by a key without "alg"', async (alg) => {
  const pair = RSA.includes(alg) ? rsa : await generateKeyPair(alg, { extractable: true });
  issuer.publish({ jwk: { ...(await exportJWK(pair.publicKey)), kid: alg } });
  const jwt = await new SignJWT(CLAIMS).setProtectedHeader({ alg, kid: alg }).sign(pair.privateKey);
  expect(await newVerifier().verify(jwt)).toBe(ACCEPTED);
});

const other = newKey();
const hmacParts = `${part({ alg: 'HS256', kid: key.kid, typ: 'at+jwt' })}.${part(CLAIMS)}`;
const hmac = createHmac('sha256', key.publicKey.export({ type: 'spki', format: 'pem' })).update(hmacParts);

test.each<[string, string, string]>([
  ['without a signature', `${part({ alg: 'none' })}.${part(CLAIMS)}.`, 'alg'],
  ['signed with the public key as an HMAC secret', `${hmacParts}.${hmac.digest('base64url')}`, 'value not allowed'],
  ['signed by another key with the same id', signed({ ...other, kid: key.kid }, CLAIMS), 'verification failed'],
  ['that is not JSON', 'a.b.c', ''],
])('rejects a token %s', async (_, jwt, reason) => {
  await expect(verifier.verify(jwt)).rejects.toMatchObject(rejected(reason));
});

const UNUSABLE = 'its key is not usable';
test.each<[string, string, object, string]>([
  ['is too short', 'RS256', jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), UNUSABLE],
  ['is not on its curve', 'ES256', { ...key.jwk, y: key.jwk.x }, UNUSABLE],
  ['is private', 'ES256', jwkOf(key.privateKey), 'must be public keys'],
  ['is for encryption', 'ES256', { ...key.jwk, use: 'enc' }, 'no applicable key'],
])('rejects a token of a published key that %s, and accepts those of other keys', async (_, alg, jwk, reason) => {
  issuer.publish(key, { jwk: { ...jwk, kid: 'unusable' } });
  const verifier = newVerifier();
  const jwt = token({}, { alg, kid: 'unusable' });
  await expect(verifier.verify(jwt)).rejects.toMatchObject(rejected(reason));
  expect(await verifier.verify(token())).toBe(ACCEPTED);
});

const NO_SUBJECT = 'its claim "sub" (or "client_id", without "sub") is not a string';
const WRONG_AUDIENCE = 'its claim "aud" does not name this service';
const WRONG_TYPE = 'the "typ" of its header is not that of an access token';
const otherUse = (claim: string) => `its claim "${claim}" shows that it is not a bearer access token`;
type Rejected = [Case, string];
test.each<Rejected>([
  [{ claims: { iss: `${issuer.url}/` } }, 'unexpected "iss" claim value'],
  [{ claims: { exp: undefined } }, 'missing required "exp" claim'],
  [{ claims: { exp: NOW_S - 60 } }, '"exp" claim timestamp check failed'],
  [{ claims: { aud: undefined, client_id: AUDIENCE } }, WRONG_AUDIENCE],
  [{ claims: { aud: [`${AUDIENCE}/more`] } }, WRONG_AUDIENCE],
  // Another Cognito client, an ID token of Cognito, and an ID token of Keycloak.
  [{ claims: { aud: undefined, token_use: 'access', client_id: 'x' } }, WRONG_AUDIENCE],
  [{ claims: { token_use: 'id' } }, otherUse('token_use')],
  [{ claims: { typ: 'ID' } }, otherUse('typ')],
  ...['nonce', 'at_hash', 'c_hash', 'cnf'].map((name): Rejected => [{ claims: { [name]: 'x' } }, otherUse(name)]),
  [{ claims: { sub: 7 } }, NO_SUBJECT],
  [{ claims: { sub: undefined } }, NO_SUBJECT],
  ...['id+jwt', 'at-jwt', 'at+jwt ', null, ['JWT']].map((typ): Rejected => [{ header: { typ } }, WRONG_TYPE]),
  ...[{}, { scope: 'plants/read' }, { scope: 'plants/writer' }, { scp: [7] }, { roles: 'x' }].map(
    (claims): Rejected => [{ claims, ...SCOPE }, 'not valid: it does not have the scope "plants/write".'],
  ),
])('rejects a token with %o', async (changes, reason) => {
  await expect(verify(changes)).rejects.toMatchObject(rejected(reason));
});
