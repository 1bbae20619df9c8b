import { randomBytes } from 'node:crypto';
import middy from '@middy/core';
import { expect, test } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { validatorWith } from '../../test/support/generate-from.ts';
import { PlantStoreError } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { jsonBody } from './json-body.ts';
import { validator } from './validator.ts';

/** Returns the response to an event with this body. If the body is valid, the handler throws. */
async function responseTo(thrown: unknown, body = '{"id":1,"name":""}', name: object = { type: 'string' }) {
  const stack = middy()
    .use(errorResponse())
    .use(jsonBody())
    .use(validator(await validatorWith(name)))
    .handler(() => Promise.reject(thrown));
  return await stack(eventWith({ body, headers: { 'content-type': 'application/json' } }), contextWith());
}
/** Returns the message for an invalid body. */
async function messageFor(body: string, name?: object) {
  const { error, message } = contractBody(await responseTo('valid', body, name));
  expect(error).toBe(400);
  return message;
}

test('responds to an error with its number, its message and its headers', async () => {
  const response = await responseTo(new PlantStoreError(503, 'It failed.'));
  expect(contractBody(response)).toEqual({ error: 503, message: 'It failed.' });
  expect(response.headers).toEqual({ 'content-type': 'application/json', 'Retry-After': '5' });
});

test.each([Object.assign(new Error('secret'), { statusCode: 418, cause: null }), null])(
  'responds to an unexpected %s with error 500, without internal details',
  async (thrown) => {
    const { error, message } = contractBody(await responseTo(thrown));
    expect(`${error} ${message}`).toBe('500 The request failed because of an internal error. Try again.');
  },
);

const INT64 = 'a whole number from -9223372036854775808 to 9223372036854775807';
const PLAIN_DIGITS = `${INT64}, in plain digits if it is beyond 2^53`;
const DIGITS = '9'.repeat(40);

test.each([
  ['{"id":"1"}', `The member name is missing; it must be a string. The member id was a string; it must be ${INT64}.`],
  ['{"id":1,"name":1.0e18}', 'The member name was 1.0e18; it must be a string.'],
  ['[]', 'The body was an array; it must be a JSON object.'],
  ['null', 'The body was null; it must be a JSON object.'],
  ['{"id":9007199254740992.5,"name":""}', `The member id was 9007199254740992.5; it must be ${PLAIN_DIGITS}.`],
  ['{"id":-9.2233720368547758e18,"name":""}', `The member id was -9.2233720368547758e18; it must be ${PLAIN_DIGITS}.`],
  ['{"id":4503599627370495.5,"name":""}', `The member id was 4503599627370495.5; it must be ${INT64}.`],
  [`{"id":${DIGITS}9,"name":""}`, `The member id was ${DIGITS}…; it must be ${INT64}.`],
  ['{"id":1,"name":"","other":[{"__proto__":1}]}', 'The body has the member "__proto__", which is not allowed.'],
  ['{"constructor":{"prototype":{}}}', 'The body has the member "constructor.prototype", which is not allowed.'],
])('describes what is wrong in the body %s', async (body, message) => {
  expect(await messageFor(body)).toBe(message);
});

const INT32 = { type: 'integer', format: 'int32' };
const TEXT = { type: 'string', minLength: 2, maxLength: 200, pattern: '^a' };
const TWO_SEEDLINGS = '{"id":1,"name":"🌱🌱"}';
const IS_TWO_LONG = 'name was 2 characters long; it must be a string of';
const LONE_SURROGATE = 'name was a string with a lone surrogate; it must be a string of well-formed Unicode';

test.each([
  [TEXT, '{"id":1,"name":"bb"}', 'name was "bb"; it must be a string of 2 to 200 characters that matches ^a'],
  [TEXT, '{"id":1,"name":"a\\ud800"}', LONE_SURROGATE],
  [{ type: 'string', minLength: 3 }, TWO_SEEDLINGS, `${IS_TWO_LONG} at least 3 characters`],
  [{ type: 'string', maxLength: 1 }, TWO_SEEDLINGS, `${IS_TWO_LONG} at most 1 character`],
  [{ type: 'string', enum: ['a', 'b'] }, '{"id":1,"name":"c"}', 'name was "c"; it must be one of "a", "b"'],
  [{ type: 'boolean' }, '{"id":1,"name":{}}', 'name was an object; it must be true or false'],
  [{ ...INT32, minimum: 1 }, '{"id":1,"name":0}', 'name was 0; it must be a whole number from 1 to 2147483647'],
  [{ ...INT32, maximum: 1 }, '{"id":1,"name":2}', 'name was 2; it must be a whole number from -2147483648 to 1'],
  [{ ...INT32, enum: [1, 2] }, '{"id":1,"name":1.5}', 'name was 1.5; it must be one of 1, 2'],
])('describes what is wrong with a name of the schema %j in the body %s', async (name, body, description) => {
  expect(await messageFor(body, name)).toBe(`The member ${description}.`);
});

test.each([
  ['^\\w+ ?\\w* ?\\w* ?\\w* ?\\w*$', `${'a'.repeat(999)}!`],
  ['^.*[0-7].{200}[^x]$', randomBytes(1_200_000).toString('hex')],
])('rejects a text for the pattern %s within a second', async (pattern, text) => {
  const validate = await validatorWith({ type: 'string', maxLength: 1000, pattern });
  const before = process.cpuUsage();
  expect(validate({ body: { id: 1, name: text } })).toBe(false);
  expect(process.cpuUsage(before).user, 'microseconds').toBeLessThan(1_000_000);
});

test('tests a pattern on a text of 1000 characters beyond U+FFFF', async () => {
  const validate = await validatorWith({ type: 'string', maxLength: 1000, pattern: '^🌱+$' });
  const isValid = (name: string) => validate({ body: { id: 1, name } });
  expect(isValid('🌱'.repeat(1000))).toBe(true);
  expect(isValid(`${'🌱'.repeat(999)}🌵`)).toBe(false);
});

test.each(['{', '🌱', ' '])('rejects invalid JSON %j', async (body) => {
  // The reason quotes a character, which is half of a surrogate pair for 🌱. `Cs` are lone surrogates.
  expect(await messageFor(body)).toMatch(/^The body was not JSON \(\P{Cs}+\); it must be a JSON object\.$/u);
});
