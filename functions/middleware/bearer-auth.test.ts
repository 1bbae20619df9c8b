import middy from '@middy/core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { DynamoDb } from '../dynamodb/client.ts';
import { JwtVerifier } from '../tokens/jwt-verifier.ts';
import { OpaqueTokenVerifier } from '../tokens/opaque-token-verifier.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { Middleware } from './middleware.ts';

const engine = closedAtEnd(await startEngine());

const call = vi.spyOn(DynamoDb.prototype, 'call');
beforeEach(() => {
  call.mockClear();
});

/** Returns the token name of a request with these headers. Rejects with the middleware's error. */
async function nameFor(headers: Record<string, string> | null, jwt?: JwtVerifier) {
  let name: string | undefined;
  const readName: Middleware = {
    before: ({ internal }) => {
      name = internal.tokenName;
    },
  };
  const opaque = new OpaqueTokenVerifier(new DynamoDb(), engine.accessTokensTable);
  const stack = middy()
    .use(bearerAuth({ opaque, jwt }))
    .use(readName)
    .handler(async () => 'passed');
  await stack(JSON.parse(JSON.stringify({ ...eventWith(), headers })), contextWith());
  return name;
}

/** Returns the token name of a bearer token. */
const nameOf = (token: string, verifier?: JwtVerifier) => nameFor({ authorization: `Bearer ${token}` }, verifier);

const CHALLENGE = 'Bearer realm="plant-store"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;
const unauthorized = (message: string, challenge = INVALID) => ({
  error: 401,
  message,
  headers: { 'WWW-Authenticate': challenge },
});
const MALFORMED =
  'The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>" with a token of the form "plantstore_" and 43 letters or digits';

test.each([
  `Bearer ${DEVELOPMENT_TOKEN}`,
  `bearer ${DEVELOPMENT_TOKEN}`,
  `BEARER   ${DEVELOPMENT_TOKEN}`,
  ` Bearer ${DEVELOPMENT_TOKEN} `,
])('accepts %j and stores the name of its token', async (authorization) => {
  expect(await nameFor({ authorization })).toBe('development');
});

test.each([null, {}])('returns 401 for the headers %j', async (headers) => {
  const message = 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".';
  await expect(nameFor(headers)).rejects.toMatchObject(unauthorized(message, CHALLENGE));
});

test.each([
  ['', CHALLENGE],
  [DEVELOPMENT_TOKEN, CHALLENGE],
  [`Basic ${DEVELOPMENT_TOKEN}`, CHALLENGE],
  [`Bearer${DEVELOPMENT_TOKEN}`, CHALLENGE],
  [`Bearer ${DEVELOPMENT_TOKEN} ${DEVELOPMENT_TOKEN}`, INVALID],
  [`Bearer ${DEVELOPMENT_TOKEN}0`, INVALID],
  ['Bearer e30.e30.c2lnbmF0dXJl', INVALID],
  [`Bearer ${DEVELOPMENT_TOKEN.toUpperCase()}`, INVALID],
])('returns 401 for the malformed header $0 without a database read', async (authorization, challenge) => {
  await expect(nameFor({ authorization })).rejects.toMatchObject(unauthorized(`${MALFORMED}.`, challenge));
  expect(call).not.toHaveBeenCalled();
});

describe('with an identity provider', () => {
  const verifier = new JwtVerifier({ issuer: 'https://id.example.com', audiences: ['plants'], scope: undefined });
  const JWT = 'e30.e30.c2lnbmF0dXJl';
  const verify = vi.spyOn(verifier, 'verify');
  beforeEach(() => {
    verify.mockReset();
  });

  test.each([JWT, 'e30.e30.', `e30.${'x'.repeat(8192 - 5)}.`])(
    'accepts a JWT with the name that the verifier returns, without a database read: $0',
    async (jwt) => {
      verify.mockResolvedValue('id.example.com/0123');
      expect(await nameOf(jwt, verifier)).toBe('id.example.com/0123');
      expect(verify).toHaveBeenCalledWith(jwt);
      expect(call).not.toHaveBeenCalled();
    },
  );

  test('looks up an opaque token only in the table', async () => {
    expect(await nameOf(DEVELOPMENT_TOKEN, verifier)).toBe('development');
    expect(verify).not.toHaveBeenCalled();
  });

  test.each(['e30.e30', 'e30..x', 'e30.e3+0.x', `${JWT}=`, `${DEVELOPMENT_TOKEN}0`, `e30.${'x'.repeat(8192 - 4)}.`])(
    'returns 401 for the malformed token $0 without calling the verifier',
    async (token) => {
      const message = `${MALFORMED}, or a JWT of at most 8192 characters.`;
      await expect(nameOf(token, verifier)).rejects.toMatchObject(unauthorized(message));
      expect(verify).not.toHaveBeenCalled();
    },
  );
});
