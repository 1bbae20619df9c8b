import { beforeEach, expect, test, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { ApiEvent, Request } from './types.ts';

/** The look-up in the table of tokens, and the verification of a JWT. */
const [opaque, jwt] = [{ verify: vi.fn() }, { verify: vi.fn() }];
beforeEach(() => {
  opaque.verify.mockReset().mockResolvedValue('ci');
  jwt.verify.mockReset().mockResolvedValue('id.example.com/0123');
});

/** Returns the token name of a request with these headers. Rejects with the middleware's error. */
async function nameFor(headers: object | null, verifiers: Parameters<typeof bearerAuth>[0] = { opaque, jwt }) {
  const context = { getRemainingTimeInMillis: () => 9000 };
  // The middleware uses only these members of an event and of a request.
  const event = { headers } as ApiEvent;
  await bearerAuth(verifiers).before?.({ event, context } as Request);
  return event.tokenName;
}

const CHALLENGE = 'Bearer realm="plant-store"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;
const unauthorized = (message: string, challenge: string) => {
  return { error: 401, message, headers: { 'WWW-Authenticate': challenge } };
};

test.each([`BEARER   ${DEVELOPMENT_TOKEN}`, ` Bearer ${DEVELOPMENT_TOKEN} `])(
  'accepts %j with the name of its token in the table, and calls no identity provider',
  async (authorization) => {
    expect(await nameFor({ authorization })).toBe('ci');
    expect(opaque.verify).toHaveBeenCalledExactlyOnceWith(DEVELOPMENT_TOKEN, 9000 - 4000);
    expect(jwt.verify).not.toHaveBeenCalled();
  },
);

test.each(['e30.e30.c2lnbmF0dXJl', `e30.${'x'.repeat(8192 - 5)}.`])(
  'accepts the JWT $0 with the name that the identity provider’s verifier returns, without a database read',
  async (token) => {
    expect(await nameFor({ authorization: `Bearer ${token}` })).toBe('id.example.com/0123');
    expect(jwt.verify).toHaveBeenCalledExactlyOnceWith(token);
    expect(opaque.verify).not.toHaveBeenCalled();
  },
);

test.each([null, {}])('returns 401 for the headers %j', async (headers) => {
  const message = 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".';
  await expect(nameFor(headers)).rejects.toMatchObject(unauthorized(message, CHALLENGE));
});

const MALFORMED =
  'The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>" with a token of the form "plantstore_" and 43 letters or digits';
test.each([
  ['', CHALLENGE],
  [`Basic ${DEVELOPMENT_TOKEN}`, CHALLENGE],
  [`Bearer${DEVELOPMENT_TOKEN}`, CHALLENGE],
  [`Bearer ${DEVELOPMENT_TOKEN} ${DEVELOPMENT_TOKEN}`, INVALID],
  [`Bearer ${DEVELOPMENT_TOKEN.toUpperCase()}`, INVALID],
  [`Bearer ${DEVELOPMENT_TOKEN}0`, INVALID],
  ['Bearer e30.e30', INVALID],
  ['Bearer e30..x', INVALID],
  ['Bearer e30.e3+0.x', INVALID],
  ['Bearer e30.e30.x=', INVALID],
  [`Bearer e30.${'x'.repeat(8192 - 4)}.`, INVALID],
])(
  'returns 401 for the malformed header $0 without a database read or a verification',
  async (authorization, challenge) => {
    const error = unauthorized(`${MALFORMED}, or a JWT of at most 8192 characters.`, challenge);
    await expect(nameFor({ authorization })).rejects.toMatchObject(error);
    for (const { verify } of [opaque, jwt]) expect(verify).not.toHaveBeenCalled();
  },
);

test('returns 401 for a JWT without an identity provider', async () => {
  const authorization = 'Bearer e30.e30.c2lnbmF0dXJl';
  await expect(nameFor({ authorization }, { opaque })).rejects.toMatchObject(unauthorized(`${MALFORMED}.`, INVALID));
});

test('cuts a name that is longer than any that the commands create', async () => {
  opaque.verify.mockResolvedValue('x'.repeat(400_000));
  expect(await nameFor({ authorization: `Bearer ${DEVELOPMENT_TOKEN}` })).toBe(`${'x'.repeat(266)}…`);
});
