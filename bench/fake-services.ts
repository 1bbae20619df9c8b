import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discovery, newKey, published, signed, startIssuer } from '../test/support/issuer.ts';
import { localVariables } from '../tools/local/environment.ts';

const OUTPUTS: Record<string, string> = {
  GetItem: JSON.stringify({
    ConsumedCapacity: { CapacityUnits: 1 },
    Item: { name: { S: 'bench' }, expiresAt: { N: '9999999999' } },
  }),
  PutItem: JSON.stringify({ ConsumedCapacity: { CapacityUnits: 1 } }),
};

/** Starts a server that is both a fake DynamoDB, which accepts every token and plant, and an identity provider. */
export async function startFakeServices() {
  const { url, certificate, respondWith, close } = await startIssuer();
  const certificateFile = join(mkdtempSync(join(tmpdir(), 'plant-store-bench-')), 'certificate.pem');
  writeFileSync(certificateFile, certificate);
  const key = newKey();
  respondWith((request, response) => {
    if (request.method === 'GET') return discovery(url, [published(key)])(request, response);
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(OUTPUTS[action]);
    });
  });
  return {
    /** The environment variables of a function with this provider, and a valid token. */
    provider: {
      variables: { TOKEN_ISSUER: url, TOKEN_AUDIENCE: 'plants' },
      token: signed(key, { iss: url, aud: 'plants', sub: 'bench', exp: 2 ** 33 }, { typ: 'at+jwt' }),
    },
    environment: {
      ...localVariables(url),
      NODE_EXTRA_CA_CERTS: certificateFile,
    },
    close,
  };
}
