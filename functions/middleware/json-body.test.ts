import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { jsonBody } from './json-body.ts';

const stack = middy()
  .use(jsonBody())
  .handler(async ({ body }) => body);

const HEADERS = { 'content-type': 'application/json' };

/** Returns the parsed body of an event with these changes. */
function read(changes: Partial<APIGatewayProxyEvent>): Promise<unknown> {
  return stack(eventWith({ headers: HEADERS, ...changes }), contextWith());
}

const inBase64 = (bytes: Buffer | string) => ({ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true });

/** Returns the parsed body. Expects the same result in base64. */
async function parsed(body: string): Promise<unknown> {
  const value = await read({ body });
  expect(await read(inBase64(body))).toEqual(value);
  return value;
}

test.each(['APPLICATION/Json', ' application/json\t;\tcharset="utf-8"; q=1 '])('accepts the type %j', async (type) => {
  expect(await read({ headers: { 'content-type': type }, body: '{}' })).toEqual({});
});

test.each([
  ...['application/jsonx', 'application/json\n', 'application/json, x'].map((type) => [type, type]),
  ['x'.repeat(41), `${'x'.repeat(40)}…`],
])('returns 415 and quotes at most 40 characters of the Content-Type %j', async (contentType, quoted) => {
  const message = `The Content-Type was ${JSON.stringify(quoted)}; it must be application/json.`;
  await expect(read({ headers: { 'content-type': contentType } })).rejects.toMatchObject({ error: 415, message });
});

const ofBytes = (bytes: number) => `["${'x'.repeat(bytes - 4)}"]`;
const listOf = (items: number) => `[${Array(items).fill('""')}]`;

test.each<[string, string]>([
  ['of 2,500,000 bytes', ofBytes(2_500_000)],
  ['of 1,000 items', listOf(1000)],
  ['with a string of separators', JSON.stringify(['[{,"\\'.repeat(1000)])],
  ['with all kinds of values', '\n{"a":[true,null,{"b":""}],"constructor":"\\u00e9 🌱"}'],
])('parses a body %s, base64 or not', async (_, body) => {
  expect(await parsed(body)).toEqual(JSON.parse(body));
});

const NO_TYPE = 'The Content-Type is missing; it must be application/json.';
const NO_BODY = 'The body is missing; it must be a JSON object.';
const TOO_LARGE = 'The body is too large; it must have at most 2,500,000 bytes.';
const TOO_MANY = 'The body has too many values; it must have at most 1,000.';
const LARGE = ofBytes(2_500_001);
const BYTE_ORDER_MARK = 'The body has a byte order mark; it must be a JSON object without one.';
const NOT_UTF8 = 'The body was not UTF-8; it must be JSON in UTF-8, without a Content-Encoding.';
test.each<[string, Partial<APIGatewayProxyEvent>, number, string]>([
  ['without a Content-Type', { headers: {} }, 415, NO_TYPE],
  ['without a body', { body: null }, 400, NO_BODY],
  ['with an empty body', { body: '' }, 400, NO_BODY],
  ['with a byte order mark', inBase64('\ufeff{}'), 400, BYTE_ORDER_MARK],
  ['that is compressed', inBase64(gzipSync('{}')), 400, NOT_UTF8],
  ['of 2,500,001 bytes in base64', inBase64(LARGE), 413, TOO_LARGE],
  ['of 2,500,001 bytes in fewer characters', { body: `["${'é'.repeat(1_249_998)}x"]` }, 413, TOO_LARGE],
  ['of 1,001 items', inBase64(listOf(1001)), 413, TOO_MANY],
  ['of 1,001 objects in each other', { body: '{"a":'.repeat(1001) }, 413, TOO_MANY],
  ['of 1,001 items after a string that ends with a backslash', { body: `["\\\\",${listOf(1000)}` }, 413, TOO_MANY],
])('rejects a request %s', async (_, changes, error, message) => {
  await expect(read(changes)).rejects.toMatchObject({ error, message });
});

test.each<[string, number | bigint]>([
  ['9007199254740993', 9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['7.0', 7],
  ['-0', -0],
  ['1.5e1', 15],
  ['1500E-2', 15],
])('parses the number %s as %s', async (text, number) => {
  expect(await parsed(` ${text} `)).toBe(number);
});

const INEXACT =
  '-1.00000000000000001e+0 10.00000000000000001e-1 -1E-400 9007199254740991.1 9007199254740992.0 99999999999999999999';
test.each(INEXACT.split(' '))('parses the number %s, which is not exact, as a symbol with its text', async (text) => {
  expect(Object(await read({ body: text })).description).toBe(text);
});
