import { expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/dynamodb.ts';
import { fetchedBody } from './support/contract.ts';
import { fc } from './support/property.ts';
import { startServiceWithEngine } from './support/service.ts';

const service = await startServiceWithEngine();

async function send(
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  { method = 'POST', path = '/plants' } = {},
) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json', ...headers },
    body: new Uint8Array(Buffer.from(body)),
  });
  return fetchedBody(response);
}

const NESTED = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

test.each<[string, string, Record<string, string>, number]>([
  ['200,000 levels of nesting', NESTED, {}, 413],
  ['200,000 levels of nesting in a member that is ignored', `{"id":1,"name":"x","y":${NESTED}}`, {}, 413],
  ['nesting that is never closed', '{"a":'.repeat(200_000), {}, 413],
  ['a body of 6 MB', `{"id":1,"name":"${'x'.repeat(6 * 1024 * 1024)}"}`, {}, 413],
  ['an id of a million digits', `{"id":${'9'.repeat(1_000_000)},"name":"x"}`, {}, 400],
  ['10 KB of headers', '{"id":1,"name":"x"}', { 'x-large': 'x'.repeat(10_240) }, 413],
  ['a token of 9 KB', '{"id":1,"name":"x"}', { authorization: `Bearer plantstore_${'x'.repeat(9000)}` }, 401],
])('rejects %s with a clear message, and serves the next request', async (_, body, headers, error) => {
  const response = await send(body, headers);
  expect(response).toMatchObject({ error, message: expect.stringMatching(/^.{10,300}\.$/s) });
  expect(await send('{"id":1,"name":"next"}')).toEqual({ name: 'next' });
});

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
    const { error = 400 } = await send(body, headers, { method, path });
    expect([400, 401, 404, 409, 413, 415]).toContain(error);
  });
  await fc.assert(property);
});
