import { writeFileSync } from 'node:fs';
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
  const { url, certificate, respondWith } = await startIssuer();
  const certificateFile = join(tmpdir(), 'certificate.pem');
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
    /** The settings of a stack with this identity provider. */
    settings: { tokenIssuer: url, tokenAudience: 'plants' },
    /** A valid token of the identity provider. */
    jwt: signed(key, { iss: url, aud: 'plants', sub: 'bench', exp: 2 ** 33 }, { typ: 'at+jwt' }),
    /** The environment variables of the functions. */
    environment: {
      ...localVariables(url),
      TOKEN_ISSUER: url,
      TOKEN_AUDIENCE: 'plants',
      NODE_EXTRA_CA_CERTS: certificateFile,
    },
  };
}
