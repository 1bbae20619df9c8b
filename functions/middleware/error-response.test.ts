import middy from '@middy/core';
import { expect, test } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { errorResponse } from './error-response.ts';

async function responseTo(thrown: unknown) {
  const stack = middy()
    .use(errorResponse())
    .handler(() => {
      throw thrown;
    });
  return await stack(eventWith(), contextWith());
}

test.each<[ErrorNumber, Record<string, string>]>([
  [401, { 'WWW-Authenticate': 'Bearer realm="plant-store"' }],
  [409, {}],
  [429, { 'Retry-After': '1' }],
  [503, { 'Retry-After': '5' }],
])('responds to error %i with its message and the headers %j', async (error, headers) => {
  const response = await responseTo(new PlantStoreError(error, 'It failed.'));
  expect(contractBody(response)).toEqual({ error, message: 'It failed.' });
  expect(response.headers).toEqual({ 'content-type': 'application/json', ...headers });
});

test.each([
  new TypeError('secret inside'),
  Object.assign(new Error('secret'), { statusCode: 418 }),
  Object.assign(new Error('secret'), { statusCode: 418, cause: null }),
  Object.assign(new Error('secret', { cause: { package: 'another', data: 'secret' } }), { statusCode: 415 }),
  'a thrown secret',
  null,
])('responds to an unexpected %s with error 500, without internal details', async (thrown) => {
  expect(contractBody(await responseTo(thrown))).toEqual({
    error: 500,
    message: 'The request failed because of an internal error. Try again.',
  });
});
