import middy from '@middy/core';
import { expect, test } from 'vitest';
import { contextWith, eventWith } from '../../../test/support/event.ts';
import { fc, text as wellFormed } from '../../../test/support/property.ts';
import type { Scalar } from '../json/shape.ts';
import { typedParameters } from './typed-parameters.ts';

/** Converts a path parameter. */
async function typed(text: string, type: Scalar): Promise<unknown> {
  const stack = middy()
    .use(typedParameters({ pathParameters: { it: type }, queryStringParameters: {} }))
    .handler(async ({ pathParameters }) => pathParameters?.['it']);
  return stack(eventWith({ pathParameters: { it: text } }), contextWith());
}

test('decodes every percent-encoded path parameter', async () => {
  await fc.assert(
    fc.asyncProperty(wellFormed, async (text) => {
      expect(await typed(encodeURIComponent(text), 'string')).toBe(text);
    }),
  );
});

test.each([
  ['a%20b', 'string', 'a b'],
  ['a%2Fb', 'string', 'a/b'],
  ['a%252Fb', 'string', 'a%2Fb'],
  ['a+b', 'string', 'a+b'],
  ['%2D7', 'int32', -7],
] as const)('decodes the path parameter "%s" as a %s to %j', async (text, type, value) => {
  expect(await typed(text, type)).toBe(value);
});

test.each(['%', 'a%2', '%zz', '%ff', '%ed%a0%80'])('throws 400 for the path parameter "%s"', async (text) => {
  const message = `The parameter it was "${text}"; it must be percent-encoded UTF-8.`;
  await expect(typed(text, 'string')).rejects.toMatchObject({ error: 400, message });
});

test('converts every JSON number as JSON.parse does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async (number) => {
      const text = JSON.stringify(number);
      expect(await typed(text, 'number')).toBe(JSON.parse(text));
    }),
  );
});

test.each([
  ['true', 'boolean', true],
  ['false', 'boolean', false],
  ['1', 'string', '1'],
  ['true', 'string', 'true'],
  ['1E+2', 'number', 100],
  ['-7', 'int32', -7],
] as const)('converts "%s" as a %s to %j', async (text, type, value) => {
  expect(await typed(text, type)).toBe(value);
});

test.each([
  ['', 'int64'],
  ['007', 'int64'],
  ['+1', 'int64'],
  ['1.0', 'int64'],
  ['99999999999999999999', 'int64'],
  ['', 'int32'],
  ['1.0', 'int32'],
  ['1e1', 'int32'],
  ['99999999999999999999', 'int32'],
  ['', 'number'],
  ['01', 'number'],
  ['0x1', 'number'],
  ['1.', 'number'],
  ['.5', 'number'],
  [' 1', 'number'],
  ['1 ', 'number'],
  ['Infinity', 'number'],
  ['True', 'boolean'],
] as const)('does not convert "%s", which is not a valid %s', async (text, type) => {
  expect(await typed(text, type)).toBe(text);
});

test('converts query parameters too, and removes those that the contract does not have', async () => {
  const stack = middy()
    .use(typedParameters({ pathParameters: {}, queryStringParameters: { limit: 'int32', id: 'int64' } }))
    .handler(async ({ queryStringParameters }) => queryStringParameters);
  const query = async (texts: Record<string, string> | null) =>
    stack(eventWith({ queryStringParameters: texts }), contextWith());
  expect(await query({ limit: '2', id: '9223372036854775807' })).toEqual({ limit: 2, id: 2n ** 63n - 1n });
  expect(await query({ id: '3', other: 'x' })).toEqual({ id: 3n });
  // API Gateway has decoded them.
  expect(await query({ id: '%33' })).toEqual({ id: '%33' });
  expect(await query(null)).toEqual({});
});
