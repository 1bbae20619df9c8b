import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { readableBody } from './readable-body.ts';

const stack = middy()
  .use(readableBody())
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
