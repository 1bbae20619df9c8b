import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newToken } from '../functions/shared/access-tokens/token.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { contextWith } from '../test/support/event.ts';
import { runChecks } from './check.ts';
import { checks, checksOfFunction } from './checks.ts';
import { Client } from './client.ts';
import { functionSender } from './function-sender.ts';
import { CHECK_IDS } from './ids.ts';
import operations from './operations.generated.json' with { type: 'json' };

const EXPIRED_TOKEN = `plantstore_${'e'.repeat(43)}`;
const FACTS = {
  expiredToken: EXPIRED_TOKEN,
  allowedOrigin: 'https://app.example.com',
  tokenIssuer: 'https://id.example.com',
  tokenAudience: 'the-audience',
  tokenScope: 'the-scope',
};

type Handler = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;
/** A broken version of the function. It may call the correct version and change the response. */
type BrokenVersion = (event: APIGatewayProxyEvent, correct: Handler) => unknown;

let engine: Engine;
let correct: Handler;
/** The valid token of the client that was made last: each has its own ids. */
let validToken: string;
beforeAll(async () => {
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => {});
  engine = await startEngine();
  await engine.putToken(EXPIRED_TOKEN, 'expired', 1);
  vi.stubEnv('ALLOW_ORIGINS', FACTS.allowedOrigin);
  const { handler } = await import('../functions/create-plant/index.ts');
  correct = (event) => handler(structuredClone(event) as never, contextWith());
});
afterAll(() => engine.close());

/** A client of a version of createPlant, with a token of its own. */
async function clientOf(version: BrokenVersion): Promise<Client> {
  const inAnHour = Date.now() / 1000 + 3600;
  validToken = newToken('checks', 0, 0).token;
  await engine.putToken(validToken, 'checks', Math.ceil(inAnHour));
  const send = async ({ input }: { input: { Payload: string } }) => {
    const response = await version(JSON.parse(input.Payload), correct);
    return { Payload: Buffer.from(JSON.stringify(response)) };
  };
  // No other method is used.
  const sendTo = functionSender({ send } as unknown as LambdaClient);
  return new Client(validToken, (request) => sendTo('the version', '/plants', request));
}

const ofFunction = checksOfFunction('createPlant', FACTS).checks;

test('a correct version passes all checks, repeatedly, and leaves the same plants', async () => {
  const storedIds = async () => {
    const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: engine.plantsTable }));
    return Items.map(({ id }) => BigInt(String(id?.N)));
  };
  const before = await storedIds();
  const client = await clientOf((event) => correct(event));
  const run = async () => (await Array.fromAsync(runChecks(ofFunction, client))).filter(({ state }) => state !== 'ok');
  expect(await run()).toEqual([]);
  const left = (await storedIds()).filter((id) => !before.includes(id));
  const [lowest = 0n, highest = 0n] = CHECK_IDS.split(' to ').map(BigInt);
  const size = (id: bigint) => (id < 0n ? -id : id);
  expect(left.filter((id) => size(id) < lowest || size(id) > highest)).toEqual([]);
  expect(await run()).toEqual([]);
  expect((await storedIds()).length).toBe(before.length + left.length);
});

const JSON_TYPE = { 'Content-Type': 'application/json' };
const error = (number: number) => ({
  statusCode: 400,
  headers: JSON_TYPE,
  body: JSON.stringify({ error: number, message: 'x' }),
});
const plant = (name: string) => ({ statusCode: 200, headers: JSON_TYPE, body: JSON.stringify({ name }) });

const textOf = ({ body }: APIGatewayProxyEvent) => Buffer.from(body ?? '', 'base64').toString();
const headerOf = ({ headers }: APIGatewayProxyEvent, name: string) =>
  Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];

const withBody = (event: APIGatewayProxyEvent, body: string) => ({
  ...event,
  body: Buffer.from(body).toString('base64'),
});
const withToken = (event: APIGatewayProxyEvent, token = validToken) => ({
  ...event,
  headers: {
    'content-type': headerOf(event, 'content-type') ?? '',
    ...(headerOf(event, 'origin') && { origin: headerOf(event, 'origin') }),
    authorization: `Bearer ${token}`,
  },
});

/** A version that reads another text from the body. */
const reading =
  (change: (text: string) => string): BrokenVersion =>
  (event, correct) =>
    event.body ? correct(withBody(event, change(textOf(event)))) : correct(event);

/** A version whose response is another one. */
const responding =
  (change: (response: APIGatewayProxyResult, event: APIGatewayProxyEvent) => object): BrokenVersion =>
  async (event, correct) => {
    const response = await correct(event);
    return { ...response, ...change(response, event) };
  };

/** A version that accepts tokens that the predicate accepts, given the token that was sent. */
const accepting =
  (accepts: (token: string) => boolean): BrokenVersion =>
  (event, correct) => {
    const token = /^Bearer (\S+)$/.exec(headerOf(event, 'authorization') ?? '')?.[1];
    return correct(token !== undefined && accepts(token) ? withToken(event) : event);
  };

/** A version that stores other names than it is sent. */
const storing =
  (change: (name: string) => string): BrokenVersion =>
  async (event, correct) => {
    let sent: { name?: unknown };
    try {
      sent = JSON.parse(textOf(event)) as { name?: unknown };
    } catch {
      return correct(event);
    }
    if (typeof sent?.name !== 'string' || !sent.name.isWellFormed()) return correct(event);
    const { name } = sent;
    const text = textOf(event).replace(JSON.stringify(name), () => JSON.stringify(change(name)));
    const response = await correct(withBody(event, text));
    return { ...response, body: response.body.replace(JSON.stringify(change(name)), () => JSON.stringify(name)) };
  };

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString());
const isJwt = (token: string) =>
  token.split('.').length === 3 &&
  claimsOf(token).iss === FACTS.tokenIssuer &&
  claimsOf(token).aud === FACTS.tokenAudience &&
  claimsOf(token).scope === FACTS.tokenScope;

const CHALLENGE = 'WWW-Authenticate';
const A_PLANT = 'a plant is a 200, and again';

test.each<[string, string, BrokenVersion]>([
  // Tokens
  ['accepts any token', 'POST /plants with an unknown token is error 401, with a challenge', accepting(() => true)],
  [
    'needs no token',
    'POST /plants without Authorization header is error 401, with a challenge',
    (event, correct) => correct(withToken(event)),
  ],
  [
    'accepts a token without its last character',
    'POST /plants with a valid token without its last character is error 401, with a challenge',
    accepting((token) => validToken.startsWith(token)),
  ],
  [
    'accepts a token with more characters',
    'POST /plants with a valid token and another character is error 401, with a challenge',
    accepting((token) => token.startsWith(validToken)),
  ],
  [
    'compares only the start of a token',
    'POST /plants with a valid token that ends differently is error 401, with a challenge',
    accepting((token) => token.length === 54 && token.startsWith(validToken.slice(0, 40))),
  ],
  [
    'accepts an expired token',
    'POST /plants with an expired token is error 401, with a challenge',
    accepting((token) => token === EXPIRED_TOKEN),
  ],
  [
    'accepts an unsigned JWT',
    'POST /plants with an unsigned JWT is error 401, with a challenge',
    accepting((token) => isJwt(token) && token.endsWith('.')),
  ],
  [
    'does not verify the signature of a JWT',
    'POST /plants with a JWT that somebody else signed is error 401, with a challenge',
    accepting((token) => isJwt(token) && !token.endsWith('.')),
  ],
  [
    'accepts another scheme',
    'POST /plants with another scheme is error 401, with a challenge',
    (event, correct) => correct(headerOf(event, 'authorization')?.startsWith('Basic') ? withToken(event) : event),
  ],
  [
    'stores a plant before it checks the token',
    'a plant with an unknown token is error 401, and not stored',
    async (event, correct) => {
      await correct(withToken(event));
      return correct(event);
    },
  ],
  [
    'looks at the body before the token',
    'POST /plants without a token, whatever the body, is error 401',
    (event, correct) => (/^\{"id":$/.test(textOf(event)) ? error(400) : correct(event)),
  ],
  [
    'knows the scheme in one case only',
    'the scheme "bearer" in lower case is a 200, and again',
    (event, correct) => (headerOf(event, 'authorization')?.startsWith('bearer ') ? error(401) : correct(event)),
  ],
  ...[undefined, 'Bearer error="invalid_token"', 'Bearer realm="x"'].map(
    (challenge): [string, string, BrokenVersion] => [
      `sends the challenge ${challenge}`,
      'POST /plants with an unknown token is error 401, with a challenge',
      responding(({ headers }) => ({ headers: { ...headers, [CHALLENGE]: challenge } })),
    ],
  ),
  [
    'names an error in the challenge though no token was sent',
    'POST /plants without Authorization header is error 401, with a challenge',
    responding(({ headers }) => ({ headers: { ...headers, [CHALLENGE]: 'Bearer realm="x", error="invalid_token"' } })),
  ],
  [
    'shows a valid token',
    'an empty object is error 400, its message names id and name',
    responding(({ body }, event) => ({ body: body.replace('"message":"', `$&${headerOf(event, 'authorization')} `) })),
  ],
  [
    'shows an unknown token',
    'POST /plants with an unknown token is error 401, with a challenge',
    responding(({ body }, event) => ({ body: body.replace('"message":"', `$&${headerOf(event, 'authorization')} `) })),
  ],

  // Responses
  [
    'responds with status 201',
    A_PLANT,
    responding(({ statusCode }) => ({ statusCode: statusCode === 200 ? 201 : 400 })),
  ],
  ['shows the id', A_PLANT, responding(({ body }) => ({ body: body.replace('{"name"', '{"id":1,"name"') }))],
  [
    'shows a tag that is not there',
    'a plant without a tag, whose response has none, is a 200, and again',
    responding(({ body }) => ({ body: body.replace('{"name":"check"}', '{"name":"check","tag":""}') })),
  ],
  [
    'has more members in its errors',
    'null is error 400',
    responding(({ body }) => ({ body: body.replace('{"error"', '{"stack":"x","error"') })),
  ],
  [
    'does not name the member',
    'a missing name is error 400, its message names name',
    responding(({ body }) => ({ body: body.replace(/"message":"[^"]*"/, '"message":"bad"') })),
  ],
  ['responds in HTML', A_PLANT, responding(() => ({ headers: { 'Content-Type': 'text/html' } }))],
  ['responds with nothing', A_PLANT, () => null],
  ['says that plain text is base64', A_PLANT, responding(() => ({ isBase64Encoded: true }))],
  [
    'has a header that is not a string',
    A_PLANT,
    responding(({ headers }) => ({ headers: { ...headers, 'X-Other': { a: 1 } } })),
  ],
  [
    'lets no page of another origin read its responses',
    'pages of https://app.example.com can read the responses to POST /plants',
    responding(() => ({ headers: JSON_TYPE })),
  ],
  [
    'lets no page read its responses to requests without a token',
    'pages of https://app.example.com can read the responses to POST /plants',
    responding(({ body }) => (body.includes('401') ? { headers: JSON_TYPE } : {})),
  ],

  // Headers
  [
    'reads header names in lower case only',
    A_PLANT,
    (event, correct) => (event.headers['authorization'] ? correct(event) : error(401)),
  ],
  [
    'reads header names in Title-Case only',
    A_PLANT,
    (event, correct) => (event.headers['Authorization'] ? correct(event) : error(401)),
  ],
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map((type): [string, string, BrokenVersion] => [
    `does not accept the Content-Type ${type}`,
    `the Content-Type ${type} is a 200, and again`,
    (event, correct) => (headerOf(event, 'content-type') === type ? error(415) : correct(event)),
  ]),
  ...[
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/vnd.api+json',
  ].map((type): [string, string, BrokenVersion] => [
    `accepts the Content-Type ${type}`,
    `POST /plants with the Content-Type ${type} is error 415`,
    (event, correct) => (headerOf(event, 'content-type') === type ? error(400) : correct(event)),
  ]),
  [
    'needs no Content-Type',
    'POST /plants without Content-Type is error 415',
    (event, correct) => (headerOf(event, 'content-type') ? correct(event) : error(400)),
  ],

  // Bodies
  ['accepts null', 'null is error 400', (event, correct) => (textOf(event) === 'null' ? plant('x') : correct(event))],
  ['accepts a list', 'a list is error 400', reading((text) => text.replaceAll(/^\[|\]$/g, ''))],
  [
    'accepts a body that is not JSON',
    'POST /plants with a body that is not JSON is error 400',
    (event, correct) => (textOf(event) === '{"id":' ? plant('x') : correct(event)),
  ],
  [
    'accepts an empty body',
    'POST /plants with an empty body is error 400',
    (event, correct) => (event.body || !headerOf(event, 'authorization') ? correct(event) : plant('x')),
  ],
  ['replaces what is not UTF-8', 'a body that is not UTF-8 is error 400', reading((text) => text)],
  [
    'stores a body that it refuses',
    'a body that is not UTF-8, with the Content-Type application/vnd.api+json, is error 415, and not stored',
    async (event, correct) => {
      if (headerOf(event, 'content-type') !== 'application/vnd.api+json') return correct(event);
      await correct({
        ...withBody(event, textOf(event)),
        headers: { ...withToken(event).headers, 'content-type': 'application/json' },
      });
      return correct(event);
    },
  ],
  [
    'refuses members beside its own',
    'a plant with other members, which are ignored, is a 200, and again',
    (event, correct) => (textOf(event).includes('colour') ? error(400) : correct(event)),
  ],
  [
    'accepts a plant without a name',
    'a missing name is error 400, its message names name',
    reading((text) => text.replace(/(?<!"name".*)\}$/, ',"name":""}')),
  ],
  [
    'accepts a lone surrogate',
    'a lone surrogate is error 400, its message names name',
    reading((text) => text.replaceAll('\\ud800', '\ufffd')),
  ],
  [
    'coerces a name',
    'a number as name is error 400, its message names name',
    reading((text) => text.replace('"name":7', '"name":"7"')),
  ],
  [
    'coerces a tag',
    'null as tag is error 400, its message names tag',
    reading((text) => text.replace('"tag":null', '"tag":""')),
  ],
  [
    'accepts plants of over 400 KB',
    'a plant of over 400 KB is error 413',
    (event, correct) => (textOf(event).length > 400_000 ? plant('x') : correct(event)),
  ],

  // Ids
  [
    'rounds ids',
    'two ids beyond 2^53 that differ by one are two plants, positive and negative',
    reading((text) =>
      text.replace(/"id":(-?\d{16,})(?=[,}])/, (_, id) => `"id":${BigInt.asIntN(64, BigInt(Number(id)) - 1024n)}`),
    ),
  ],
  [
    'has one id for all plants',
    'a plant without a tag, whose response has none, is a 200, and again',
    reading((text) => text.replace(/"id":-?\d{16,}(?=[,}])/, '"id":9218868437227405000')),
  ],
  [
    'drops the sign of an id',
    'two ids beyond 2^53 that differ by one are two plants, positive and negative',
    reading((text) => text.replace('"id":-', '"id":')),
  ],
  [
    'accepts an id in quotes',
    'an id in quotes is error 400, its message names id',
    reading((text) => text.replace(/"id":"(\d+)"/, '"id":$1')),
  ],
  [
    'truncates an id',
    'an id with a fraction is error 400, its message names id',
    reading((text) => text.replace(/("id":-?\d+)\.5/, '$1')),
  ],
  [
    'clamps an id',
    'an id over the highest int64 is error 400, its message names id',
    reading((text) => text.replace(/"id":1\d{19}\b/, '"id":1')),
  ],
  ...['.0', 'e2'].map((form): [string, string, BrokenVersion] => [
    `accepts no id that ends with ${form}`,
    `an id in the form ${form === '.0' ? '7.0' : '1e2'} is accepted`,
    reading((text) => text.replace(`${form}}`, '.5}')),
  ]),

  // Plants
  [
    'overwrites plants',
    'a plant under an id in use, if it is a different one, is a 200, and stored exactly',
    responding(({ body }, event) => (body.includes('409') ? plant(String(JSON.parse(textOf(event)).name)) : {})),
  ],
  [
    'refuses a repeated request',
    A_PLANT,
    (() => {
      const seen = new Set<string>();
      return ((event, correct) => {
        const text = textOf(event);
        if (seen.has(text)) return error(409);
        seen.add(text);
        return correct(event);
      }) satisfies BrokenVersion;
    })(),
  ],
  [
    'refuses names of more than 255 characters',
    'a name of 5,000 characters is a 200, and stored exactly',
    (event, correct) => (/"name":"[^"]{256}/.test(textOf(event)) ? error(400) : correct(event)),
  ],
  ['cuts names', 'a name of 5,000 characters is a 200, and stored exactly', storing((name) => name.slice(0, 1024))],
  [
    'trims names',
    'a name with spaces, controls and any Unicode is a 200, and stored exactly',
    storing((name) => name.trim()),
  ],
  [
    'normalizes names',
    'a name with spaces, controls and any Unicode is a 200, and stored exactly',
    storing((name) => name.normalize()),
  ],
  [
    'crashes on some plants',
    'a name with spaces, controls and any Unicode is a 200, and stored exactly',
    (event, correct) => {
      if (textOf(event).includes('植物')) throw new Error('no such plant');
      return correct(event);
    },
  ],
])('a version that %s fails the check "%s"', async (_, title, version) => {
  const [first, check] = [A_PLANT, title].map((each) => ofFunction.find((candidate) => candidate.title === each));
  expect(check, title).toBeDefined();
  const client = await clientOf(version);
  if (check !== first) await first?.run(client).catch(() => {});
  await expect(check?.run(client)).rejects.toThrow();
});

const titles = (all: { title: string }[]) => all.map(({ title }) => title);

test('API Gateway or one function is responsible for each check', () => {
  const byGateway = checks.filter((check) => check.byGateway);
  const byFunction = operations.flatMap(({ operationId }) =>
    checksOfFunction(operationId, { expiredToken: 'x' }).checks.filter(({ title }) => !title.includes('expired')),
  );
  expect(titles([...byGateway, ...byFunction]).toSorted()).toEqual(titles(checks).toSorted());
});

test('an unknown operation has no checks', () => {
  expect(() => checksOfFunction('none', FACTS)).toThrow('openapi.yaml has no operation none.');
});
