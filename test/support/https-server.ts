import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { listenOnFreePort } from './listen-on-free-port.ts';

/** This process trusts it. Its name is random: of several certificates with one name, only the first is trusted. */
const ownCertificate = (async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: randomUUID() }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  setDefaultCACertificates([...getCACertificates(), cert]);
  return { cert, key };
})();

/** Starts an HTTPS server that responds with the test's listener. */
export async function startHttpsServer() {
  const { cert, key } = await ownCertificate;
  const requests: string[] = [];
  let listener: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(String(request.url));
    listener(request, response);
  });
  const url = `https://${await listenOnFreePort(server)}`;
  return {
    /** The base URL. */
    url,
    /** The certificate to trust, in PEM. */
    certificate: cert,
    /** The paths of all requests. */
    requests,
    /** Replaces the listener. */
    respondWith(next: RequestListener): void {
      listener = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
