import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith } from '../../test/support/event.ts';
import { newToken } from '../shared/access-tokens/token.ts';
import { checks, checksOfFunction } from './all-checks.ts';
import { runChecks } from './check.ts';
import { CHECK_IDS, Client } from './client.ts';
import { functionSender } from './function-sender.ts';
import { operations } from './operations.generated.js';

const EXPIRED_TOKEN = `plantstore_${'e'.repeat(43)}`;
const FACTS = {
  expiredToken: EXPIRED_TOKEN,
  allowedOrigin: 'https://app.example.com',
  tokenIssuer: 'https://id.example.com',
  tokenAudience: 'the-audience',
  tokenScope: 'the-scope',
};

type Handler = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;
/** Handles an event as a broken version of the function. It may call the correct version and change the response. */
type BrokenVersion = (event: APIGatewayProxyEvent, correct: Handler) => unknown;

for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => {});
const engine = closedAtEnd(await startEngine());
await engine.putToken(EXPIRED_TOKEN, 'expired', 1);
vi.stubEnv('ALLOW_ORIGINS', FACTS.allowedOrigin);
const { handler } = await import('../create-plant/index.ts');
const correct: Handler = (event) => handler(structuredClone(event) as never, contextWith());
/** The token of the newest client. Each client has its own token, and so its own plant ids. */
let validToken: string;

/** Returns a client of a version of createPlant, with a new token. */
async function clientOf(version: BrokenVersion): Promise<Client> {
  validToken = newToken('checks', 0, 0).token;
  await engine.putToken(validToken, 'checks', Math.ceil(Date.now() / 1000 + 3600));
  const send = async ({ input }: { input: { Payload: string } }) => {
    const response = await version(JSON.parse(input.Payload), correct);
    return { Payload: Buffer.from(JSON.stringify(response)) };
  };
  // The cast is safe because functionSender uses only this method.
  return new Client(validToken, functionSender({ send } as unknown as LambdaClient, 'the version', '/plants'));
}

const functionChecks = checksOfFunction('createPlant', FACTS).checks;

test('a correct version passes all checks; a second run creates no more plants', async () => {
  const storedIds = async () => {
    const items = await engine.items(engine.plantsTable);
    return items.map(({ id }) => BigInt(String(id?.N)));
  };
  const before = await storedIds();
  const client = await clientOf((event) => correct(event));
  const failedChecks = async () => {
    const results = await Array.fromAsync(runChecks(functionChecks, client));
    return results.filter(({ problem }) => problem !== undefined);
  };
  expect(await failedChecks()).toEqual([]);
  const created = (await storedIds()).filter((id) => !before.includes(id));
  const [lowest = 0n, highest = 0n] = CHECK_IDS.split(' to ').map(BigInt);
  const absolute = (id: bigint) => (id < 0n ? -id : id);
  expect(created.filter((id) => absolute(id) < lowest || absolute(id) > highest)).toEqual([]);
  expect(await failedChecks()).toEqual([]);
  expect((await storedIds()).length).toBe(before.length + created.length);
});

const JSON_TYPE = { 'Content-Type': 'application/json' };
const response = (statusCode: number, body: object) => ({ statusCode, headers: JSON_TYPE, body: JSON.stringify(body) });
const error = (number: number) => response(400, { error: number, message: 'x' });
const plant = (name: string) => response(200, { name });

const textOf = ({ body }: APIGatewayProxyEvent) => Buffer.from(body ?? '', 'base64').toString();
const headerOf = ({ headers }: APIGatewayProxyEvent, name: string) =>
  Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? '';
const typeOf = (event: APIGatewayProxyEvent) => headerOf(event, 'content-type');
const authorizationOf = (event: APIGatewayProxyEvent) => headerOf(event, 'authorization');
const hasText = (text: string) => (event: APIGatewayProxyEvent) => textOf(event) === text;
const hasType = (type: string) => (event: APIGatewayProxyEvent) => typeOf(event) === type;

const withBody = (event: APIGatewayProxyEvent, body: string) => ({
  ...event,
  body: Buffer.from(body).toString('base64'),
});
const withToken = (event: APIGatewayProxyEvent) => ({
  ...event,
  headers: {
    'content-type': typeOf(event),
    ...(headerOf(event, 'origin') && { origin: headerOf(event, 'origin') }),
    authorization: `Bearer ${validToken}`,
  },
});

/** A version that changes the body before it reads it. */
const editBody =
  (change: (text: string) => string): BrokenVersion =>
  (event, correct) =>
    event.body ? correct(withBody(event, change(textOf(event)))) : correct(event);

/** A version that changes members of the response. */
const editResponse =
  (change: (response: APIGatewayProxyResult, event: APIGatewayProxyEvent) => object): BrokenVersion =>
  async (event, correct) => {
    const response = await correct(event);
    return { ...response, ...change(response, event) };
  };

const replaceInBody = (pattern: string | RegExp, replacement: string) =>
  editBody((text) => text.replace(pattern, replacement));
const replaceInResponse = (pattern: string | RegExp, replacement: string) =>
  editResponse(({ body }) => ({ body: body.replace(pattern, replacement) }));

/** A version that has a fixed response to some events. */
const respondIf =
  (response: object, isMatch: (event: APIGatewayProxyEvent) => unknown): BrokenVersion =>
  (event, correct) =>
    isMatch(event) ? response : correct(event);

/** A version that accepts some events without a valid token. */
const acceptIf =
  (isMatch: (event: APIGatewayProxyEvent) => boolean): BrokenVersion =>
  (event, correct) =>
    correct(isMatch(event) ? withToken(event) : event);

/** A version that also accepts other tokens. */
const acceptToken = (isMatch: (token: string) => boolean) =>
  acceptIf((event) => {
    const token = /^Bearer (\S+)$/.exec(authorizationOf(event))?.[1];
    return token !== undefined && isMatch(token);
  });

/** A version that changes the name of a plant before it stores it. */
const editName =
  (change: (name: string) => string): BrokenVersion =>
  async (event, correct) => {
    const [, json] = /"name":("(?:[^"\\]|\\.)*")/.exec(textOf(event)) ?? [];
    if (json === undefined || !JSON.parse(json).isWellFormed()) return correct(event);
    const changed = JSON.stringify(change(JSON.parse(json)));
    const body = textOf(event).replace(json, () => changed);
    const response = await correct(withBody(event, body));
    return { ...response, body: response.body.replace(changed, () => json) };
  };

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString());
const isJwt = (token: string) =>
  token.split('.').length === 3 &&
  claimsOf(token).iss === FACTS.tokenIssuer &&
  claimsOf(token).aud === FACTS.tokenAudience &&
  claimsOf(token).scope === FACTS.tokenScope;

const CHALLENGE = 'WWW-Authenticate';
const A_PLANT = 'a plant gets status 200';
const CORS = 'pages of https://app.example.com';
const LARGE_IDS = 'two ids beyond 2^53';
const UNICODE_NAME = 'control characters and Unicode';
const LONG_NAME = 'a name of 5,000 characters';
const NO_TOKEN = 'without Authorization header';
const UNKNOWN_TOKEN = 'POST /plants with an unknown token';

/** `check` is a part of the title that only one check has. */
type Row = [failure: string, check: string, version: BrokenVersion];

const TOKENS: Row[] = [
  ['accepts any token', UNKNOWN_TOKEN, acceptToken(() => true)],
  ['needs no token', NO_TOKEN, acceptIf(() => true)],
  ['accepts a shorter token', 'without its last character', acceptToken((token) => validToken.startsWith(token))],
  ['accepts a longer token', 'one more character', acceptToken((token) => token.startsWith(validToken))],
  ['compares half of a token', 'ends differently', acceptToken((token) => token.startsWith(validToken.slice(0, 30)))],
  ['accepts an expired token', 'an expired token', acceptToken((token) => token === EXPIRED_TOKEN)],
  ['accepts an unsigned JWT', 'an unsigned JWT', acceptToken((token) => isJwt(token) && token.endsWith('.'))],
  ['does not verify a JWT', 'with an unknown key', acceptToken((token) => isJwt(token) && !token.endsWith('.'))],
  ['accepts another scheme', 'the scheme Basic', acceptIf((event) => authorizationOf(event).startsWith('Basic'))],
  [
    'stores a plant before it checks the token',
    'a plant with an unknown token',
    async (event, correct) => {
      await correct(withToken(event));
      return correct(event);
    },
  ],
  ['responds with error 503', UNKNOWN_TOKEN, respondIf(error(503), (event) => !isJwt(authorizationOf(event)))],
  ['validates the body before the token', 'and with an invalid body', respondIf(error(400), hasText('{"id":'))],
  ['accepts only "Bearer"', 'lower case', respondIf(error(401), (event) => /^bearer /.test(authorizationOf(event)))],
  ...[undefined, 'Bearer error="invalid_token"', 'Bearer realm="x"'].map(
    (challenge): Row => [
      `sends the challenge ${challenge}`,
      UNKNOWN_TOKEN,
      editResponse(({ headers }) => ({ headers: { ...headers, [CHALLENGE]: challenge } })),
    ],
  ),
  [
    'has an error in the challenge for a request without a token',
    NO_TOKEN,
    editResponse(({ headers }) => ({
      headers: { ...headers, [CHALLENGE]: 'Bearer realm="x", error="invalid_token"' },
    })),
  ],
  ...['an empty object gets error 400', UNKNOWN_TOKEN].map(
    (check): Row => [
      'has the token in its response',
      check,
      editResponse(({ body }, event) => ({ body: body.replace('"message":"', `$&${authorizationOf(event)} `) })),
    ],
  ),
];

const RESPONSES: Row[] = [
  ['responds with 201', A_PLANT, editResponse(({ statusCode }) => ({ statusCode: statusCode === 200 ? 201 : 400 }))],
  ['has the id in its response', A_PLANT, replaceInResponse('{"name"', '{"id":1,"name"')],
  ['adds a tag', 'a plant without a tag', replaceInResponse('{"name":"check"}', '{"name":"check","tag":""}')],
  ['has unknown members in its errors', 'null as body', replaceInResponse('{"error"', '{"stack":"x","error"')],
  ['sets isBase64Encoded for plain text', A_PLANT, editResponse(() => ({ isBase64Encoded: true }))],
  ['has an object as a header', A_PLANT, editResponse(({ headers }) => ({ headers: { ...headers, 'X-Other': {} } }))],
  ['responds in HTML', A_PLANT, editResponse(() => ({ headers: { 'Content-Type': 'text/html' } }))],
  ['sends no CORS headers', CORS, editResponse(() => ({ headers: JSON_TYPE }))],
  [
    'sends no CORS headers with error 401',
    CORS,
    editResponse(({ body }) => (body.includes('401') ? { headers: JSON_TYPE } : {})),
  ],
];

const HEADERS: Row[] = [
  ...['authorization', 'Authorization'].map(
    (name): Row => [
      `reads the header only as ${name}`,
      A_PLANT,
      respondIf(error(401), ({ headers }) => !headers[name]),
    ],
  ),
  ...[/[A-Z]/, / ;/, /"/, /version/].map(
    (pattern): Row => [
      `rejects a Content-Type with ${pattern}`,
      'a plant with the Content-Type',
      respondIf(error(415), (event) => pattern.test(typeOf(event))),
    ],
  ),
  ...['text/plain', 'application/problem+json'].map(
    (type): Row => [
      `accepts the Content-Type ${type}`,
      `the Content-Type ${type} gets`,
      respondIf(error(400), hasType(type)),
    ],
  ),
  ['accepts a missing Content-Type', 'without Content-Type', respondIf(error(400), hasType(''))],
];

const BODIES: Row[] = [
  ['accepts null', 'null as body', respondIf(plant('x'), hasText('null'))],
  ['accepts an array', 'an array', replaceInBody(/^\[|\]$/g, '')],
  ['accepts a body that is not JSON', 'a body that is not JSON', respondIf(plant('x'), hasText('{"id":'))],
  ['accepts no body', 'an empty body', respondIf(plant('x'), (event) => !event.body && authorizationOf(event))],
  ['replaces bytes that are not UTF-8', 'a body that is not UTF-8 gets', editBody((text) => text)],
  [
    'stores a body that it rejects',
    'a body that is not UTF-8 with',
    async (event, correct) => {
      if (typeOf(event) !== 'application/vnd.api+json') return correct(event);
      const headers = { ...withToken(event).headers, 'content-type': 'application/json' };
      await correct({ ...withBody(event, textOf(event)), headers });
      return correct(event);
    },
  ],
  ['rejects unknown members', 'unknown members', respondIf(error(400), (event) => textOf(event).includes('colour'))],
  ['accepts a plant without a name', 'a missing name', replaceInBody(/(?<!"name".*)\}$/, ',"name":""}')],
  ['accepts a lone surrogate', 'a lone surrogate', replaceInBody('\\ud800', '\ufffd')],
  ['coerces a name', 'a number as name', replaceInBody('"name":7', '"name":"7"')],
  ['coerces a tag', 'null as tag', replaceInBody('"tag":null', '"tag":""')],
  ['accepts more than 400 KB', 'than 400 KB', respondIf(plant('x'), (event) => textOf(event).length > 400_000)],
];

const roundId = (_: string, id: string) => `"id":${BigInt.asIntN(64, BigInt(Number(id)) - 1024n)}`;
const IDS: Row[] = [
  ['rounds ids', LARGE_IDS, editBody((text) => text.replace(/"id":(-?\d{16,})(?=[,}])/, roundId))],
  ['uses one id', 'a plant without a tag', replaceInBody(/"id":-?\d{16,}(?=[,}])/, '"id":9218868437227405000')],
  ['drops the sign of an id', LARGE_IDS, replaceInBody('"id":-', '"id":')],
  ['accepts an id in quotes', 'an id in quotes', replaceInBody(/"id":"(\d+)"/, '"id":$1')],
  ['truncates an id', 'an id with a fraction', replaceInBody(/("id":-?\d+)\.5/, '$1')],
  ['clamps an id', 'an id above the int64 range', replaceInBody(/"id":1\d{19}\b/, '"id":1')],
  ['clamps a negative id', 'an id below the int64 range', replaceInBody(/"id":-1\d{19}\b/, '"id":-1')],
  ['ignores an exponent', 'an id beyond 2^53 with an exponent', replaceInBody(/("id":9\d{18})e0/, '$1')],
  ['rejects an id that ends with .0', 'an id in the form 7.0', replaceInBody('.0}', '.5}')],
  ['rejects an id that ends with e2', 'an id in the form 1e2', replaceInBody('e2}', '.5}')],
];

const CRASH = 'no such plant';
const seen = new Set<string>();
const isRepeated = (event: APIGatewayProxyEvent) => {
  const text = textOf(event);
  if (seen.has(text)) return true;
  seen.add(text);
  return false;
};
const PLANTS: Row[] = [
  [
    'overwrites plants',
    'the first of several plants with the same id',
    editResponse(({ body }, event) => (body.includes('409') ? plant(String(JSON.parse(textOf(event)).name)) : {})),
  ],
  ['rejects a repeated request', A_PLANT, respondIf(error(409), isRepeated)],
  ['rejects long names', LONG_NAME, respondIf(error(400), (event) => /"name":"[^"]{256}/.test(textOf(event)))],
  ['truncates names', LONG_NAME, editName((name) => name.slice(0, 1024))],
  ['trims names', UNICODE_NAME, editName((name) => name.trim())],
  ['normalizes names', UNICODE_NAME, editName((name) => name.normalize())],
  [
    'crashes on some plants',
    UNICODE_NAME,
    (event, correct) => {
      if (textOf(event).includes('植物')) throw new Error(CRASH);
      return correct(event);
    },
  ],
];

test.each([...TOKENS, ...RESPONSES, ...HEADERS, ...BODIES, ...IDS, ...PLANTS])(
  'a version that %s fails the check with "%s" in its title',
  async (_, part, version) => {
    const client = await clientOf(version);
    const [check, ...others] = functionChecks.filter(({ title }) => title.includes(part));
    expect({ part, others }).toEqual({ part, others: [] });
    // Stores a plant, because some versions fail only for a second one.
    if (part !== A_PLANT)
      await functionChecks
        .find(({ title }) => title.startsWith(A_PLANT))
        ?.run(client)
        .catch(() => {});
    await expect(check?.run(client)).rejects.toThrow(new RegExp(` must |${CRASH}`));
  },
);

test.each(functionChecks.filter(({ title }) => title.includes('in the message')))(
  'a version without names in its messages fails the check “$title”',
  async ({ run }) => {
    const client = await clientOf(replaceInResponse(/"message":"[^"]*"/, '"message":"bad"'));
    await expect(run(client)).rejects.toThrow('the message must contain the name');
  },
);

test('a version that allows any origin passes the check of its origin', async () => {
  const headers = { ...JSON_TYPE, 'Access-Control-Allow-Origin': '*' };
  const client = await clientOf(editResponse(() => ({ headers })));
  const check = functionChecks.find(({ title }) => title.startsWith(CORS));
  await expect(check?.run(client)).resolves.toBeUndefined();
});

const titles = (all: { title: string }[]) => all.map(({ title }) => title);

test('each check has a title of its own, with a subject and the names that the message must contain', () => {
  const all = titles(checks);
  expect(new Set(all).size).toBe(all.length);
  expect(all.filter((title) => title.startsWith(' '))).toEqual([]);
  expect(all).toContain('an empty object gets error 400 with id and name in the message');
});

test('the pre-traffic hooks run every check that does not need the gateway', () => {
  const gatewayChecks = checks.filter(({ needsGateway }) => needsGateway);
  const ofFunctions = operations.flatMap(({ operationId }) =>
    checksOfFunction(operationId, { expiredToken: 'x' }).checks.filter(({ title }) => !title.includes('expired')),
  );
  expect(titles([...gatewayChecks, ...ofFunctions]).toSorted()).toEqual(titles(checks).toSorted());
});

test('throws for an unknown operation', () => {
  expect(() => checksOfFunction('none', FACTS)).toThrow('openapi.yaml has no operation none.');
});
