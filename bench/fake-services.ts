import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tokenItem } from '../functions/tokens/token.ts';
import { discovery, newKey, signed, startIssuer } from '../test/support/issuer.ts';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';
import { localVariables } from '../tools/local/dynamodb.ts';

const ITEM = tokenItem(DEVELOPMENT_TOKEN, 'bench', 0, 9_999_999_999);

/** Starts a server that is an identity provider and a fake DynamoDB, which has one token and accepts every plant. */
export async function startFakeServices() {
  const { url, certificate, respondWith } = await startIssuer();
  const NODE_EXTRA_CA_CERTS = join(tmpdir(), 'certificate.pem');
  writeFileSync(NODE_EXTRA_CA_CERTS, certificate);
  const key = newKey();
  respondWith(async (request, response) => {
    if (request.method === 'GET') return discovery(url, key)(request, response);
    const { TableName, Key, ReturnConsumedCapacity } = JSON.parse(await text(request));
    const output = {
      ConsumedCapacity: ReturnConsumedCapacity && { TableName, CapacityUnits: 1 },
      Item: Key?.digest.S === ITEM.digest.S ? ITEM : undefined,
    };
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(output));
  });
  return {
    jwt: signed(key, { iss: url, aud: 'plants', sub: 'bench', exp: 2 ** 33 }, { typ: 'at+jwt' }),
    environment: { ...localVariables(url), TOKEN_ISSUER: url, TOKEN_AUDIENCE: 'plants', NODE_EXTRA_CA_CERTS },
  };
}
