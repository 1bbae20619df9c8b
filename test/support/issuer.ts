import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

/** An identity provider of the test's own: an HTTPS server whose answers the test chooses. */
export interface Issuer {
  /** Its address, which is the issuer of its tokens. */
  url: string;
  /** A file of the certificate that it is trusted by, for NODE_EXTRA_CA_CERTS of another process. */
  certificate: string;
  /** The paths that were asked for. */
  requests: string[];
  /** Its connections: all that there were, and those that are open. */
  connections: { total: number; open: number };
  /** Answers from now on; by default discovery and the keys of `publish`. */
  answer: (listener: RequestListener) => void;
  /** Answers discovery and these keys from now on. */
  publish: (...keys: SigningKey[]) => void;
  close: () => Promise<void>;
}

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

let made = 0;

/** RSA, by default of 2048 bits. */
export function newKey(modulusLength = 2048): SigningKey {
  made += 1;
  return { kid: `key-${made}`, ...generateKeyPairSync('rsa', { modulusLength }) };
}

/** Made once, and trusted in this process: what is trusted later than its first connection is not looked at. */
const ownCertificate = (async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'issuer' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  setDefaultCACertificates([...getCACertificates(), cert]);
  return { cert, key };
})();

/** Starts one on a port, by default a free one. */
export async function startIssuer(port = 0): Promise<Issuer> {
  const { cert, key } = await ownCertificate;
  const directory = mkdtempSync(join(tmpdir(), 'issuer-'));
  const certificate = join(directory, 'certificate.pem');
  writeFileSync(certificate, cert);
  const requests: string[] = [];
  let listener: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(String(request.url));
    listener(request, response);
  });
  const connections = { total: 0, open: 0 };
  server.on('secureConnection', (socket) => {
    connections.total += 1;
    connections.open += 1;
    socket.once('close', () => {
      connections.open -= 1;
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer: Issuer['answer'] = (next) => {
    listener = next;
  };
  return {
    url,
    certificate,
    requests,
    connections,
    answer,
    publish: (...keys) => answer(discovery(url, keys.map(published))),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(directory, { recursive: true });
    },
  };
}

const METADATA = '/.well-known/openid-configuration';

/** Answers metadata under a path, by default that of OpenID Connect, and a set of keys, as such an issuer does. */
export function discovery(
  issuer: string,
  keys: object[],
  path = `${new URL(issuer).pathname.replace(/\/$/, '')}${METADATA}`,
): RequestListener {
  const answers: Record<string, object> = {
    [path]: { issuer, jwks_uri: new URL('/keys', issuer).href },
    '/keys': { keys },
  };
  return (request, response) => {
    const answer = answers[String(request.url)];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };
}

export function published({ kid, publicKey }: SigningKey): object {
  return { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

/** A JWT with such a header and claims, signed with RS256 whatever its header says. */
export function signed({ kid, privateKey }: SigningKey, claims: object, header: object = {}): string {
  const parts = [{ alg: 'RS256', kid, ...header }, claims].map(part);
  const signature = createSign('sha256').update(parts.join('.')).sign(privateKey, 'base64url');
  return [...parts, signature].join('.');
}

/** A part of a JWT. */
export function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
