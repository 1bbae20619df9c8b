import { beforeEach, expect, test, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { ApiEvent, Request } from './middleware.ts';

/** The look-up in the table of tokens, and the verification of a JWT. */
const [opaque, jwt] = [{ verify: vi.fn() }, { verify: vi.fn() }];
beforeEach(() => {
  opaque.verify.mockReset().mockResolvedValue('ci');
  jwt.verify.mockReset().mockResolvedValue('id.example.com/0123');
});

/** Returns the token name of a request with these headers. Rejects with the middleware's error. */
async function nameFor(headers: object | null, verifiers: Parameters<typeof bearerAuth>[0] = { opaque }) {
  const context = { getRemainingTimeInMillis: () => 9000 };
  // The middleware uses only these members of an event and of a request.
  const event = { headers } as ApiEvent;
  await bearerAuth(verifiers).before?.({ event, context } as Request);
  return event.tokenName;
}

const CHALLENGE = 'Bearer realm="plant-store"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;
const unauthorized = (message: string, challenge = INVALID) => {
  return { error: 401, message, headers: { 'WWW-Authenticate': challenge } };
};
const MALFORMED =
  'The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>" with a token of the form "plantstore_" and 43 letters or digits';

test.each([`BEARER   ${DEVELOPMENT_TOKEN}`, ` Bearer ${DEVELOPMENT_TOKEN} `])(
  'accepts %j and stores the name of its token',
  async (authorization) => {
    expect(await nameFor({ authorization })).toBe('ci');
    expect(opaque.verify).toHaveBeenCalledWith(DEVELOPMENT_TOKEN, 9000 - 4000);
  },
);

test.each([null, {}])('returns 401 for the headers %j', async (headers) => {
  const message = 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".';
  await expect(nameFor(headers)).rejects.toMatchObject(unauthorized(message, CHALLENGE));
});

test.each([
  ['', CHALLENGE],
  [`Basic ${DEVELOPMENT_TOKEN}`, CHALLENGE],
  [`Bearer${DEVELOPMENT_TOKEN}`, CHALLENGE],
  [`Bearer ${DEVELOPMENT_TOKEN} ${DEVELOPMENT_TOKEN}`, INVALID],
  // A JWT, without an identity provider.
  ['Bearer e30.e30.c2lnbmF0dXJl', INVALID],
  [`Bearer ${DEVELOPMENT_TOKEN.toUpperCase()}`, INVALID],
])('returns 401 for the malformed header $0 without a database read', async (authorization, challenge) => {
  await expect(nameFor({ authorization })).rejects.toMatchObject(unauthorized(`${MALFORMED}.`, challenge));
  expect(opaque.verify).not.toHaveBeenCalled();
});

test('cuts a name that is longer than any that the commands create', async () => {
  opaque.verify.mockResolvedValue('x'.repeat(400_000));
  expect(await nameFor({ authorization: `Bearer ${DEVELOPMENT_TOKEN}` })).toBe(`${'x'.repeat(266)}…`);
});

/** Returns the token name of a bearer token, with an identity provider. */
const nameOf = (token: string) => nameFor({ authorization: `Bearer ${token}` }, { opaque, jwt });

test.each(['e30.e30.c2lnbmF0dXJl', 'e30.e30.', `e30.${'x'.repeat(8192 - 5)}.`])(
  'accepts a JWT of an identity provider with the name that the verifier returns, without a database read: $0',
  async (token) => {
    expect(await nameOf(token)).toBe('id.example.com/0123');
    expect(jwt.verify).toHaveBeenCalledWith(token);
    expect(opaque.verify).not.toHaveBeenCalled();
  },
);

test('looks up an opaque token only in the table, also with an identity provider', async () => {
  expect(await nameOf(DEVELOPMENT_TOKEN)).toBe('ci');
  expect(jwt.verify).not.toHaveBeenCalled();
});

test.each(['e30.e30', 'e30..x', 'e30.e3+0.x', 'e30.e30.x=', `${DEVELOPMENT_TOKEN}0`, `e30.${'x'.repeat(8192 - 4)}.`])(
  'returns 401 for the malformed JWT $0 without calling the verifier',
  async (token) => {
    const message = `${MALFORMED}, or a JWT of at most 8192 characters.`;
    await expect(nameOf(token)).rejects.toMatchObject(unauthorized(message));
    expect(jwt.verify).not.toHaveBeenCalled();
  },
);
