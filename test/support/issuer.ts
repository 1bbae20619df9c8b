import { createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

/** Creates a P-256 key, and its JWK as an issuer publishes it (RFC 7517). An RSA key would take hundreds of ms. */
export function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  return { kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' } };
}

/** This process trusts it. Its name is random: of several certificates with one name, only the first is trusted. */
const ownCertificate = (async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: randomUUID() }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  setDefaultCACertificates([...getCACertificates(), cert]);
  return { cert, key };
})();

/** Starts an HTTPS server, which can be an identity provider. `url` is also the issuer in its tokens. */
export async function startIssuer() {
  const { cert: certificate, key } = await ownCertificate;
  /** The paths of all requests. */
  const requests: string[] = [];
  let listener: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer({ cert: certificate, key }, (request, response) => {
    requests.push(String(request.url));
    listener(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    certificate,
    requests,
    respondWith(next: RequestListener): void {
      listener = next;
    },
    /** Responds with the metadata and these keys. */
    publish(...keys: { jwk: object }[]): void {
      listener = discovery(url, ...keys);
    },
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** Returns a listener for an issuer's metadata (OpenID Connect Discovery 1.0, 4), and for its keys at /keys. */
export function discovery(issuer: string, ...keys: { jwk: object }[]): RequestListener {
  const path = `${new URL(issuer).pathname.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const responses: Record<string, object> = {
    [path]: { issuer, jwks_uri: new URL('/keys', issuer).href },
    '/keys': { keys: keys.map(({ jwk }) => jwk) },
  };
  return (request, response) => {
    const body = responses[String(request.url)];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** Returns a JWT with these claims and header members. Signs it with ES256, even if `header` has another `alg`. */
export function signed(key: Pick<ReturnType<typeof newKey>, 'kid' | 'privateKey'>, claims: object, header?: object) {
  const parts = [{ alg: 'ES256', kid: key.kid, ...header }, claims].map(part).join('.');
  const options = { key: key.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${parts}.${createSign('sha256').update(parts).sign(options, 'base64url')}`;
}

/** Returns a part of a JWT: JSON in base64url. */
export function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
