import { createSign, generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { startHttpsServer } from './https-server.ts';

let keyCount = 0;

/** Creates a P-256 key with its own id. Generating an RSA key would take hundreds of milliseconds. */
export function newKey() {
  keyCount += 1;
  return { kid: `key-${keyCount}`, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

type SigningKey = ReturnType<typeof newKey>;

/** Starts an identity provider. Its base URL is also the issuer in its tokens. */
export async function startIssuer() {
  const server = await startHttpsServer();
  return {
    ...server,
    /** Replaces the listener by one that responds with the metadata and these keys. */
    publish: (...keys: SigningKey[]) => server.respondWith(discovery(server.url, keys.map(published))),
  };
}

/** Returns a listener for an issuer's metadata (OpenID Connect Discovery 1.0, 4), and for its keys at /keys. */
export function discovery(issuer: string, keys: object[]): RequestListener {
  const path = `${new URL(issuer).pathname.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const responses: Record<string, object> = {
    [path]: { issuer, jwks_uri: new URL('/keys', issuer).href },
    '/keys': { keys },
  };
  return (request, response) => {
    const body = responses[String(request.url)];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** Returns the public key in the format in which an issuer publishes it (RFC 7517). */
export function published({ kid, publicKey }: SigningKey): object {
  return { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' };
}

/** Returns a JWT with these claims and header members. Signs it with ES256, even if `header` has another `alg`. */
export function signed({ kid, privateKey }: SigningKey, claims: object, header: object = {}): string {
  const parts = [{ alg: 'ES256', kid, ...header }, claims].map(part);
  const signature = createSign('sha256')
    .update(parts.join('.'))
    .sign({ key: privateKey, dsaEncoding: 'ieee-p1363' }, 'base64url');
  return [...parts, signature].join('.');
}

/** Returns a part of a JWT: JSON in base64url. */
export function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
