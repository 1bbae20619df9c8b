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
  return stack(eventWith(changes), contextWith());
}

test.each([
  'application/json',
  'application/json;charset=utf-8',
  'application/json ; charset=utf-8',
  ' application/json\t;\tcharset="utf-8"; q=1 ',
])('the media type of %j is application/json', async (contentType) => {
  const { headers } = await read({ headers: { 'content-type': contentType } });
  expect(headers['content-type']).toBe('application/json');
});

test('a request without headers passes', async () => {
  expect((await read({ headers: {}, body: 'x' })).headers).toEqual({});
});

test('any text comes out of its base64 form', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      const event = await read({ body: Buffer.from(text).toString('base64'), isBase64Encoded: true });
      expect(event).toMatchObject({ body: text, isBase64Encoded: false });
    }),
  );
});

test('a body that is not base64 passes untouched', async () => {
  expect(await read({ body: 'aGVsbG8=' })).toMatchObject({ body: 'aGVsbG8=', isBase64Encoded: false });
});

test('a body that is missing stays missing', async () => {
  expect((await read({ body: null, isBase64Encoded: true })).body).toBeNull();
});

test('bytes that are not UTF-8 are refused with 400 rather than replaced', async () => {
  const body = Buffer.from([0x22, 0xff, 0x22]).toString('base64');
  await expect(read({ body, isBase64Encoded: true })).rejects.toMatchObject({
    error: 400,
    message: 'The body must be JSON in UTF-8, but was not UTF-8.',
  });
});
