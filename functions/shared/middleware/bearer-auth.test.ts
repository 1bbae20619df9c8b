import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../../local/development-token.ts';
import { type Engine, startEngine } from '../../../test/support/engine.ts';
import { contextWith, eventWith } from '../../../test/support/event.ts';
import { IdentityProvider } from '../access-tokens/identity-provider.mjs';
import { ACCESS_TOKEN_PREFIX } from '../access-tokens/token.ts';
import { TokensTable } from '../access-tokens/tokens-table.ts';
import { DynamoDb } from '../dynamodb/dynamodb.ts';
import type { Middleware } from '../request.ts';
import { bearerAuth } from './bearer-auth.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

/** The name under which a request with this header passes, where there is such an identity provider or none. */
async function nameFor(authorization?: string, identityProvider?: IdentityProvider): Promise<string | undefined> {
  let name: string | undefined;
  const look: Middleware = {
    before: ({ internal }) => {
      name = internal.tokenName;
    },
  };
  const stack = middy()
    .use(bearerAuth({ table: new TokensTable(new DynamoDb(), engine.accessTokensTable), identityProvider }))
    .use(look)
    .handler(async (_: APIGatewayProxyEvent) => 'passed');
  await stack(eventWith({ headers: authorization === undefined ? {} : { authorization } }), contextWith());
  return name;
}

test.each([
  `Bearer ${DEVELOPMENT_TOKEN}`,
  `bearer ${DEVELOPMENT_TOKEN}`,
  `BEARER   ${DEVELOPMENT_TOKEN}`,
  ` Bearer ${DEVELOPMENT_TOKEN} `,
])('%j passes under the name of its token', async (authorization) => {
  expect(await nameFor(authorization)).toBe('development');
});

test('a request without any headers is a 401 too', async () => {
  const stack = middy()
    .use(bearerAuth({ table: new TokensTable(new DynamoDb(), engine.accessTokensTable) }))
    .handler(async () => 'passed');
  await expect(stack(JSON.parse('{"headers":null}'), contextWith())).rejects.toMatchObject({ error: 401 });
});

test('a request without the header is told what it must be', async () => {
  await expect(nameFor()).rejects.toMatchObject({
    error: 401,
    message: 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".',
  });
});

test.each([
  '',
  'Bearer',
  'Bearer ',
  DEVELOPMENT_TOKEN,
  `Basic ${DEVELOPMENT_TOKEN}`,
  `Bearer${DEVELOPMENT_TOKEN}`,
  `x Bearer ${DEVELOPMENT_TOKEN}`,
  `Bearer ${DEVELOPMENT_TOKEN} ${DEVELOPMENT_TOKEN}`,
  `Bearer ${DEVELOPMENT_TOKEN}, Bearer ${DEVELOPMENT_TOKEN}`,
  `Bearer ${DEVELOPMENT_TOKEN}0`,
  `Bearer ${DEVELOPMENT_TOKEN.slice(0, -1)}`,
  `Bearer x${DEVELOPMENT_TOKEN}`,
  'Bearer e30.e30.c2lnbmF0dXJl',
  `Bearer ${DEVELOPMENT_TOKEN.toUpperCase()}`,
  `Bearer ${DEVELOPMENT_TOKEN.replace('Local', 'Loca-')}`,
  `Bearer ${'x'.repeat(10_000)}`,
])('%j is malformed and costs no read of the database', async (authorization) => {
  const send = vi.spyOn(DynamoDb.prototype, 'send');
  await expect(nameFor(authorization)).rejects.toMatchObject({
    error: 401,
    message:
      'The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>", the token being "plantstore_" and 43 letters or digits.',
  });
  expect(send).not.toHaveBeenCalled();
  send.mockRestore();
});

test('an unknown token of the right form is refused with 401', async () => {
  await expect(nameFor(`Bearer ${ACCESS_TOKEN_PREFIX}${'0'.repeat(43)}`)).rejects.toMatchObject({
    error: 401,
    message: 'The access token is unknown, expired or revoked.',
  });
});

test.each([
  [undefined, false],
  ['', false],
  ['Bearer', false],
  [DEVELOPMENT_TOKEN, false],
  ['Basic cGxhbnQ6c3RvcmU=', false],
  ['x Bearer y', false],
  [' Bearer   x ', true],
  ['Bearer x', true],
  [`Bearer ${DEVELOPMENT_TOKEN} x`, true],
  [`bearer plantstore_${'0'.repeat(43)}`, true],
])('the challenge to %j says that a token is invalid: %s', async (authorization, invalid) => {
  const challenge = `Bearer realm="plant-store"${invalid ? ', error="invalid_token"' : ''}`;
  await expect(nameFor(authorization)).rejects.toMatchObject({ headers: { 'WWW-Authenticate': challenge } });
});

describe('where there is an identity provider', () => {
  const provider = new IdentityProvider({ issuer: 'https://id.example.com', audiences: ['plants'], scope: undefined });
  const JWT = 'e30.e30.c2lnbmF0dXJl';
  const verify = vi.spyOn(provider, 'verify');
  beforeEach(() => {
    verify.mockReset();
  });

  test.each([JWT, 'e30.e30.', 'a-_.b-_.c-_', `e30.${'x'.repeat(8192 - 5)}.`])(
    'a JWT passes under the name that the provider gives it, without a read of the database: %s',
    async (jwt) => {
      verify.mockResolvedValue({ name: 'id.example.com/0123' });
      const send = vi.spyOn(DynamoDb.prototype, 'send');
      expect(await nameFor(`Bearer ${jwt}`, provider)).toBe('id.example.com/0123');
      expect(verify).toHaveBeenCalledWith(jwt);
      expect(send).not.toHaveBeenCalled();
      send.mockRestore();
    },
  );

  test('an opaque token is held against the table alone', async () => {
    expect(await nameFor(`Bearer ${DEVELOPMENT_TOKEN}`, provider)).toBe('development');
    expect(verify).not.toHaveBeenCalled();
  });

  test('a JWT that the provider refuses is a 401 that says why', async () => {
    verify.mockResolvedValue({ refused: 'unexpected "iss" claim value' });
    await expect(nameFor(`Bearer ${JWT}`, provider)).rejects.toMatchObject({
      error: 401,
      message: 'The access token is not valid: unexpected "iss" claim value.',
      headers: { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
    });
  });

  test('a JWT without the scope is a 401 that names the scope (RFC 6750, 3)', async () => {
    verify.mockResolvedValue({ refused: 'it lacks the scope "write"', missingScope: 'write' });
    await expect(nameFor(`Bearer ${JWT}`, provider)).rejects.toMatchObject({
      error: 401,
      message: 'The access token is not valid: it lacks the scope "write".',
      headers: { 'WWW-Authenticate': 'Bearer realm="plant-store", error="insufficient_scope", scope="write"' },
    });
  });

  test('a provider whose keys cannot be had is a 503, of which the caller is told no more', async () => {
    const cause = new Error('https://id.example.com/keys answers status 500.');
    verify.mockRejectedValue(cause);
    await expect(nameFor(`Bearer ${JWT}`, provider)).rejects.toMatchObject({
      error: 503,
      message: 'The identity provider did not answer. Repeating the request is safe.',
      headers: { 'Retry-After': '5' },
      cause,
    });
  });

  test.each([
    'e30.e30',
    'e30.e30.x.y',
    'e30..x',
    '.e30.x',
    'e30.e3 0.x',
    'e30.e3+0.x',
    `${JWT}=`,
    `${DEVELOPMENT_TOKEN}0`,
    `e30.${'x'.repeat(8192 - 4)}.`,
  ])('%s is malformed, and costs no look into it', async (token) => {
    await expect(nameFor(`Bearer ${token}`, provider)).rejects.toMatchObject({
      error: 401,
      message:
        'The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>", the token being "plantstore_" and 43 letters or digits, or a JWT of at most 8192 characters.',
      headers: { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
    });
    expect(verify).not.toHaveBeenCalled();
  });
});
