import { expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/dynamodb.ts';
import { fetchedBody } from './support/contract.ts';
import { fc } from './support/property.ts';
import { startServiceWithEngine } from './support/service.ts';

const service = await startServiceWithEngine();

test('responds to any request with a success or a client error', async () => {
  const ascii = fc.string({ unit: 'grapheme-ascii' });
  const usually = (value: string, other: fc.Arbitrary<string>) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, other);
  const request = fc.record({
    method: usually('POST', fc.constantFrom('PUT', 'DELETE', 'OPTIONS')),
    path: usually('/plants', fc.webPath()),
    authorization: usually(
      `Bearer ${DEVELOPMENT_TOKEN}`,
      fc.oneof(
        ascii,
        fc.base64String().map((text) => `Bearer ${text}`),
      ),
    ),
    'content-type': usually('application/json', ascii),
    body: fc.oneof(
      fc.json(),
      fc.uint8Array(),
      fc.json().map((name) => `{"id":7,"name":${name}}`),
    ),
  });
  const property = fc.asyncProperty(request, async ({ method, path, body, ...headers }) => {
    const response = await fetch(service.url + path, { method, headers, body: new Uint8Array(Buffer.from(body)) });
    const { error = 400 } = await fetchedBody(response);
    expect([400, 401, 404, 409, 413, 415]).toContain(error);
  });
  await fc.assert(property);
});
