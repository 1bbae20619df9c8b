import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { discovery, newKey, published, signed } from '../test/support/issuer.ts';

const ANSWERS: Record<string, string> = {
  GetItem: JSON.stringify({
    ConsumedCapacity: { CapacityUnits: 1 },
    Item: { name: { S: 'bench' }, expiresAt: { N: '9999999999' } },
  }),
  PutItem: JSON.stringify({ ConsumedCapacity: { CapacityUnits: 1 } }),
};

/** A DynamoDB over HTTPS that knows every token, takes every plant; under its address, an identity provider too. */
export async function startStandIn() {
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const certificate = join(mkdtempSync(join(tmpdir(), 'plant-store-bench-')), 'certificate.pem');
  writeFileSync(certificate, cert);
  const signingKey = newKey();
  const server = createServer({ cert, key, keepAlive: true }, (request, response) => {
    if (request.method === 'GET') return discovery(url(), [published(signingKey)])(request, response);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(ANSWERS[operation]);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A run that fails must end.
  server.unref();
  const url = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** The context keys of a stack that takes the provider's tokens, and one of them. */
    provider: {
      context: { tokenIssuer: url(), tokenAudience: 'plants' },
      token: signed(signingKey, { iss: url(), aud: 'plants', sub: 'bench', exp: 2 ** 33 }, { typ: 'at+jwt' }),
    },
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: url(),
      NODE_EXTRA_CA_CERTS: certificate,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
