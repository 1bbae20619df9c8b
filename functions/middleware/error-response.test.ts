import middy from '@middy/core';
import { expect, test } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import validateEvent from '../create-plant/validate-event.generated.js';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { jsonBody } from './json-body.ts';
import { validator } from './validator.ts';

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

/** Returns the Error for an invalid body. */
async function errorFor(body: string | null) {
  const stack = middy()
    .use(errorResponse())
    .use(jsonBody())
    .use(validator(validateEvent))
    .handler(async () => ({ statusCode: 200 }));
  return contractBody(await stack(eventWith({ body, headers: { 'content-type': 'application/json' } }), contextWith()));
}

const INT64 = 'a whole number from -9223372036854775808 to 9223372036854775807';
const STRING = 'a string of well-formed Unicode';

test.each([
  ['{}', `The member id is missing; it must be ${INT64}. The member name is missing; it must be ${STRING}.`],
  [
    '{"id":"1","name":null,"tag":7}',
    `The member id was a string; it must be ${INT64}. The member name was null; it must be ${STRING}. The member tag was 7; it must be ${STRING}.`,
  ],
  ['{"id":1,"name":1e999}', `The member name was 1e999; it must be ${STRING}.`],
  ['{"id":1,"name":7.0}', `The member name was 7.0; it must be ${STRING}.`],
  ['{"id":1,"name":{}}', `The member name was an object; it must be ${STRING}.`],
  ['{"id":1,"name":"\\ud800"}', `The member name was a string with a lone surrogate; it must be ${STRING}.`],
  ['[]', 'The body was an array; it must be a JSON object.'],
  ['null', 'The body was null; it must be a JSON object.'],
  ['7.0', 'The body was 7.0; it must be a JSON object.'],
])('describes what is wrong in the body %s', async (body, message) => {
  expect(await errorFor(body)).toEqual({ error: 400, message });
});

test.each([
  ['9007199254740992.5', true],
  ['-9.2233720368547758e18', true],
  ['4503599627370495.5', false],
  ['1e19', false],
])('quotes the id %s unchanged, and requires plain digits: %s', async (id, needsPlainDigits) => {
  expect(await errorFor(`{"id":${id},"name":"x"}`)).toEqual({
    error: 400,
    message: `The member id was ${id}; it must be ${INT64}${needsPlainDigits ? ', in plain digits if it is beyond 2^53' : ''}.`,
  });
});

test('quotes only the first 40 digits of an id', async () => {
  expect((await errorFor(`{"id":${'9'.repeat(40)}}`))['message']).toContain(`was ${'9'.repeat(40)};`);
  expect((await errorFor(`{"id":${'9'.repeat(41)}}`))['message']).toContain(`was ${'9'.repeat(40)}…;`);
});

test.each(['{', '🌱', "{'id':1}", '{"id":01}', '{"id":NaN}', 'undefined', ' '])(
  'rejects invalid JSON %j',
  async (body) => {
    const { error, message } = await errorFor(body);
    expect(error).toBe(400);
    expect(message).toMatch(/^The body was not JSON \(.+\); it must be a JSON object\.$/);
    // The reason quotes a character, which is half of a surrogate pair for 🌱.
    expect(String(message).isWellFormed()).toBe(true);
  },
);

test.each([
  ['__proto__', '{"id":1,"name":"x","__proto__":{"tag":"y"}}'],
  ['__proto__', '{"id":1,"name":"x","other":[{"__proto__":1}]}'],
  ['constructor.prototype', '{"id":1,"name":"x","constructor":{"prototype":{}}}'],
])('rejects the member %s at any depth', async (member, body) => {
  const error = { error: 400, message: `The body has the member "${member}", which is not allowed.` };
  expect(await errorFor(body)).toEqual(error);
});
