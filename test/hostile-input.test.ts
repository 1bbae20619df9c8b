import { expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/dynamodb.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { fetchedBody } from './support/contract.ts';
import { fc, int64, text } from './support/property.ts';
import { startServiceWithEngine } from './support/service.ts';

const service = closedAtEnd(await startServiceWithEngine());

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
const megabytes = (count: number) => 'x'.repeat(count * 1024 * 1024);

test.each<[string, string | Buffer, Record<string, string>, number]>([
  ['200,000 levels of nesting', NESTED, {}, 413],
  ['200,000 levels of nesting in a member that is ignored', `{"id":1,"name":"x","y":${NESTED}}`, {}, 413],
  ['nesting that is never closed', '{"a":'.repeat(200_000), {}, 413],
  ['a body of 3 MB', `{"id":1,"name":"${megabytes(3)}"}`, {}, 413],
  ['a body of 6 MB', `{"id":1,"name":"${megabytes(6)}"}`, {}, 413],
  ['an id of a million digits', `{"id":${'9'.repeat(1_000_000)},"name":"x"}`, {}, 400],
  ['10 KB of headers', '{"id":1,"name":"x"}', { 'x-large': 'x'.repeat(10_240) }, 413],
  ['a token of 9 KB', '{"id":1,"name":"x"}', { authorization: `Bearer plantstore_${'x'.repeat(9000)}` }, 401],
  ['a member __proto__', '{"id":1,"name":"x","__proto__":{"admin":true}}', {}, 400],
  ['a constructor with a prototype', '{"id":1,"name":"x","constructor":{"prototype":{"admin":true}}}', {}, 400],
  ['members of a prototype only', '{"__proto__":{"id":1,"name":"x"}}', {}, 400],
  ['invalid UTF-8', Buffer.from('{"id":1,"name":"\xff"}', 'latin1'), {}, 400],
  ['UTF-8 cut short', Buffer.from('{"id":1,"name":"\xe2\x82"}', 'latin1'), {}, 400],
  ['an encoded surrogate', Buffer.from('{"id":1,"name":"\xed\xa0\x80"}', 'latin1'), {}, 400],
  ['UTF-16', Buffer.from('\ufeff{"id":1,"name":"x"}', 'utf16le'), {}, 400],
  ['a NUL outside a string', '{"id":1,\0"name":"x"}', {}, 400],
])('rejects %s with a clear message, and serves the next request', async (_, body, headers, error) => {
  const response = await send(body, headers);
  expect(response).toMatchObject({ error, message: expect.stringMatching(/^.{10,300}\.$/s) });
  expect(await send('{"id":1,"name":"next"}')).toEqual({ name: 'next' });
  expect(Object.keys({})).toEqual([]);
});

test('uses the last of duplicate members in the response and in the table', async () => {
  expect(await send('{"id":2,"name":"first","id":3,"name":"last"}')).toEqual({ name: 'last' });
  expect(await service.engine.stored(2n)).toBeUndefined();
  expect(await service.engine.stored(3n)).toEqual({ id: '3', name: 'last' });
});

/** An id, and a JSON number with this value. */
const writtenId = fc.oneof(
  int64.map((id) => ({ id, json: `${id}` })),
  fc.integer().map((id) => ({ id: BigInt(id), json: `${id}.0` })),
  fc.nat({ max: 9 }).map((id) => ({ id: BigInt(id) * 1000n, json: `${id}e3` })),
);
/** A JSON string with each character escaped. */
const escaped = (text: string) =>
  `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

test('stores a plant exactly for any notation of its JSON', async () => {
  const property = fc.asyncProperty(writtenId, text, text, async ({ id, json }, name, tag) => {
    fc.pre((await service.engine.stored(id)) === undefined);
    const body = `\n{"id":"overruled","tag":${escaped(tag)} ,\t"x":[{}],"name":${JSON.stringify(name)},"id": ${json}}`;
    expect(await send(body)).toEqual({ name, tag });
    expect(await service.engine.stored(id)).toEqual({ id: String(id), name, tag });
  });
  await fc.assert(property);
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
