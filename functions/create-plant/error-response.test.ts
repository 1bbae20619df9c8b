import middy from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import validator from '@middy/validator';
import { expect, test } from 'vitest';
import { inContract } from '../../test/support/contract.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import validateEvent from './contract.generated.js';
import { errorResponse } from './error-response.ts';
import { PlantStoreError } from './errors.ts';
import { exactId } from './exact-id.ts';
import { readableBody } from './readable-body.ts';

/** The Error that a body is answered with once the token is verified. */
async function errorFor(body: string | null, contentType: string | undefined = 'application/json') {
  const stack = middy()
    .use(errorResponse())
    .use(readableBody())
    .use(httpJsonBodyParser())
    .use(exactId())
    .use(validator({ eventSchema: validateEvent }))
    .handler(async () => ({ statusCode: 200 }));
  return inContract(await stack(eventWith({ body, headers: { 'content-type': contentType } }), contextWith()));
}

async function errorWhenThrown(thrown: unknown) {
  const stack = middy()
    .use(errorResponse())
    .handler(() => {
      throw thrown;
    });
  return inContract(await stack(eventWith(), contextWith()));
}

const INT64 = 'a whole number from -9223372036854775808 to 9223372036854775807';
const STRING = 'a string of well-formed Unicode';

test.each([
  ['{}', `id is missing: it must be ${INT64}; name is missing: it must be ${STRING}.`],
  ['{"id":1}', `name is missing: it must be ${STRING}.`],
  [
    '{"id":"1","name":null,"tag":7}',
    `id must be ${INT64}, but was a string; name must be ${STRING}, but was null; tag must be ${STRING}, but was 7.`,
  ],
  ['{"id":1.5,"name":"x"}', `id must be ${INT64}, but was 1.5.`],
  ['{"id":true,"name":"x"}', `id must be ${INT64}, but was true.`],
  ['{"id":[7],"name":"x"}', `id must be ${INT64}, but was an array.`],
  ['{"id":9223372036854775808,"name":"x"}', `id must be ${INT64}, but was 9223372036854775808.`],
  ['{"id":-9223372036854775809,"name":"x"}', `id must be ${INT64}, but was -9223372036854775809.`],
  ['{"id":1,"name":{}}', `name must be ${STRING}, but was an object.`],
  ['{"id":1,"name":"\\ud800"}', `name must be ${STRING}, but was a string with a lone surrogate.`],
  ['{"id":1,"name":"x","tag":"\\udc00x"}', `tag must be ${STRING}, but was a string with a lone surrogate.`],
  ['{"id":1,"name":"x","tag":null}', `tag must be ${STRING}, but was null.`],
  ['[]', 'the body must be a JSON object, but was an array.'],
  ['"x"', 'the body must be a JSON object, but was a string.'],
  ['7', 'the body must be a JSON object, but was 7.'],
  ['null', 'the body must be a JSON object, but was null.'],
  [null, 'the body must be a JSON object, but was null.'],
])('the body %s is told what is wrong with it', async (body, message) => {
  expect(await errorFor(body)).toEqual({ error: 400, message });
});

test.each(['', '{', "{'id':1}", '\ufeff{}', '{"id":01}', '{"id":NaN}', 'undefined'])(
  'the body %j is not JSON',
  async (body) => {
    const { error, message } = await errorFor(body);
    expect(error).toBe(400);
    expect(message).toMatch(/^The body must be JSON, but was not: .+\.$/);
  },
);

test('a member that would change a prototype is named', async () => {
  const error = { error: 400, message: 'The body has a member "__proto__"; it must not.' };
  expect(await errorFor('{"id":1,"name":"x","__proto__":{"tag":"y"}}')).toEqual(error);
});

test('a body nested beyond the stack is refused, and the next one is read', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  expect(await errorFor(deep)).toEqual({ error: 400, message: 'The body is nested too deeply.' });
  expect(await errorFor('7')).toMatchObject({ message: 'the body must be a JSON object, but was 7.' });
});

test.each([
  ['text/plain', 'The Content-Type was "text/plain"; it must be application/json.'],
  ['application/jsonx', 'The Content-Type was "application/jsonx"; it must be application/json.'],
])('a body declared as %s is refused with 415', async (contentType, message) => {
  expect(await errorFor('{}', contentType)).toEqual({ error: 415, message });
});

test('a body that is not declared at all is refused with 415', async () => {
  const stack = middy()
    .use(errorResponse())
    .use(httpJsonBodyParser())
    .handler(async () => ({}));
  expect(inContract(await stack(eventWith({ headers: {} }), contextWith()))).toEqual({
    error: 415,
    message: 'The Content-Type is missing; it must be application/json.',
  });
});

test('a failure of our own is answered as it is', async () => {
  const conflict = new PlantStoreError(409, 'The id 1 is in use.');
  expect(await errorWhenThrown(conflict)).toEqual({ error: 409, message: 'The id 1 is in use.' });
});

test.each([
  new TypeError('secret inside'),
  Object.assign(new Error('secret'), { statusCode: 418 }),
  Object.assign(new Error('secret'), { statusCode: 418, cause: null }),
  Object.assign(new Error('secret', { cause: { package: 'another', data: 'secret' } }), { statusCode: 415 }),
  'a thrown secret',
  null,
])('an unforeseen %s is a 500 that says nothing of the inside', async (thrown) => {
  expect(await errorWhenThrown(thrown)).toEqual({
    error: 500,
    message: 'The request failed through a fault of ours. Repeating it is safe.',
  });
});
