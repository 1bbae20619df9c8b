import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextWith, eventWith } from '../../../test/support/event.ts';
import { decodeBody } from './decode-body.ts';

const stack = middy()
  .use(decodeBody())
  .handler(async (event: APIGatewayProxyEvent) => event);

function read(changes: Partial<APIGatewayProxyEvent>): Promise<APIGatewayProxyEvent> {
  return stack(eventWith({ headers: { 'content-type': 'application/json' }, ...changes }), contextWith());
}

test.each([
  'application/json',
  'APPLICATION/Json',
  'application/json;charset=utf-8',
  'application/json ; charset=utf-8',
  ' application/json\t;\tcharset="utf-8"; q=1 ',
])('a body declared as %j is JSON', async (contentType) => {
  const { headers } = await read({ headers: { 'content-type': contentType } });
  expect(headers['content-type']).toBe('application/json');
});

test.each([
  'text/plain',
  'application/jsonx',
  'application/json5',
  'application/vnd.api+json',
  'application/json+json',
  'application/json, text/plain',
  'text/json',
  '',
])('a body declared as %j is refused with 415', async (contentType) => {
  await expect(read({ headers: { 'content-type': contentType } })).rejects.toMatchObject({
    error: 415,
    message: `The Content-Type was "${contentType}"; it must be application/json.`,
  });
});

test.each([
  ['x'.repeat(40), 'x'.repeat(40)],
  ['x'.repeat(41), `${'x'.repeat(40)}…`],
  [`text/plain; ${'x'.repeat(9000)}`, `text/plain; ${'x'.repeat(28)}…`],
])('the message quotes at most 40 characters of the Content-Type %#', async (contentType, quoted) => {
  await expect(read({ headers: { 'content-type': contentType } })).rejects.toMatchObject({
    error: 415,
    message: `The Content-Type was "${quoted}"; it must be application/json.`,
  });
});

test.each([
  ['without headers', JSON.parse('null')],
  ['without a Content-Type', {}],
])('a request %s is refused with 415', async (_, headers) => {
  await expect(read({ headers })).rejects.toMatchObject({
    error: 415,
    message: 'The Content-Type is missing; it must be application/json.',
  });
});

test('any text comes out of its base64 form', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (text) => {
      const event = await read({ body: Buffer.from(text).toString('base64'), isBase64Encoded: true });
      expect(event).toMatchObject({ body: text, isBase64Encoded: false });
    }),
  );
});

test('a body that is not base64 passes untouched', async () => {
  expect(await read({ body: 'aGVsbG8=' })).toMatchObject({ body: 'aGVsbG8=', isBase64Encoded: false });
});

test.each([
  [null, false],
  ['', false],
  ['', true],
])('the body %j (base64: %s) is missing', async (body, isBase64Encoded) => {
  await expect(read({ body, isBase64Encoded })).rejects.toMatchObject({
    error: 400,
    message: 'The body is missing; it must be a JSON object.',
  });
});

test('bytes that are not UTF-8 are refused with 400 rather than replaced', async () => {
  const body = Buffer.from([0x22, 0xff, 0x22]).toString('base64');
  await expect(read({ body, isBase64Encoded: true })).rejects.toMatchObject({
    error: 400,
    message: 'The body was not UTF-8; it must be JSON in UTF-8.',
  });
});

/** A body of so many bytes. */
const ofBytes = (bytes: number) => `["${'x'.repeat(bytes - 4)}"]`;
const listOf = (items: number) => `[${Array(items).fill('0')}]`;

test.each<[string, string]>([
  ['of 2,500,000 bytes', ofBytes(2_500_000)],
  ['of 1,000 items', listOf(1000)],
  ['of 1,000 lists in each other', '['.repeat(1000) + ']'.repeat(1000)],
  ['with a string of separators', JSON.stringify(['[{,"\\'.repeat(1000)])],
])('a body %s is read, encoded or not', async (_, body) => {
  expect(await read({ body })).toMatchObject({ body });
  expect(await read({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true })).toMatchObject({ body });
});

const TOO_MANY = 'The body has too many values; it must have at most 1,000.';
const TOO_LARGE = 'The body is too large; it must have at most 2,500,000 bytes.';
test.each<[string, string, string]>([
  ['of 2,500,001 bytes', ofBytes(2_500_001), TOO_LARGE],
  ['of 2,500,001 bytes in fewer characters', `["${'é'.repeat(1_249_999)}"]  `.slice(0, 1_250_004), TOO_LARGE],
  ['of 1,001 items', listOf(1001), TOO_MANY],
  ['of 1,001 lists in each other', '['.repeat(1001), TOO_MANY],
  ['of 1,001 objects', '{"a":'.repeat(1001), TOO_MANY],
  ['of 1,001 items after a string that ends with a backslash', `["\\\\",${listOf(1000)}`, TOO_MANY],
])('a body %s is refused with 413, encoded or not', async (_, body, message) => {
  await expect(read({ body })).rejects.toMatchObject({ error: 413, message });
  const encoded = { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
  await expect(read(encoded)).rejects.toMatchObject({ error: 413, message });
});
