import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newToken } from '../functions/shared/access-tokens/token.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { contextWith } from '../test/support/event.ts';
import { runChecks } from './check.ts';
import { checks, checksOfFunction } from './checks.ts';
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
const typeOf = (event: APIGatewayProxyEvent) => headerOf(event, 'content-type');

const withBody = (event: APIGatewayProxyEvent, body: string) => ({
  ...event,
  body: Buffer.from(body).toString('base64'),
});
const withToken = (event: APIGatewayProxyEvent, token = validToken) => ({
  ...event,
  headers: {
    'content-type': typeOf(event) ?? '',
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

/** A version that responds to some events with something of its own. */
const special =
  (response: object, isSpecial: (event: APIGatewayProxyEvent) => unknown): BrokenVersion =>
  (event, correct) =>
    isSpecial(event) ? response : correct(event);

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
    const [, json] = /"name":("(?:[^"\\]|\\.)*")/.exec(textOf(event)) ?? [];
    if (json === undefined || !JSON.parse(json).isWellFormed()) return correct(event);
    const changed = JSON.stringify(change(JSON.parse(json)));
    const response = await correct(
      withBody(
        event,
        textOf(event).replace(json, () => changed),
      ),
    );
    return { ...response, body: response.body.replace(changed, () => json) };
  };

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString());
const isJwt = (token: string) =>
  token.split('.').length === 3 &&
  claimsOf(token).iss === FACTS.tokenIssuer &&
  claimsOf(token).aud === FACTS.tokenAudience &&
  claimsOf(token).scope === FACTS.tokenScope;

const CHALLENGE = 'WWW-Authenticate';
const A_PLANT = 'a plant is a 200, and again';
const WITHOUT_TAG = 'a plant without a tag, whose response has none, is a 200, and again';
const READABLE = 'pages of https://app.example.com can read the responses to POST /plants';
const TWO_IDS = 'two ids beyond 2^53 that differ by one are two plants, positive and negative';
const ODD_NAME = 'a name with spaces, controls and any Unicode is a 200, and stored exactly';
const LONG_NAME = 'a name of 5,000 characters is a 200, and stored exactly';
const unauthorized = (what: string) => `POST /plants ${what} is error 401, with a challenge`;
const naming = (what: string, member: string) => `${what} is error 400, its message names ${member}`;

type Row = [fault: string, check: string, version: BrokenVersion];

const TOKENS: Row[] = [
  ['accepts any token', unauthorized('with an unknown token'), accepting(() => true)],
  ['needs no token', unauthorized('without Authorization header'), (event, correct) => correct(withToken(event))],
  [
    'accepts a token without its last character',
    unauthorized('with a valid token without its last character'),
    accepting((token) => validToken.startsWith(token)),
  ],
  [
    'accepts a token with more characters',
    unauthorized('with a valid token and another character'),
    accepting((token) => token.startsWith(validToken)),
  ],
  [
    'compares only the start of a token',
    unauthorized('with a valid token that ends differently'),
    accepting((token) => token.length === 54 && token.startsWith(validToken.slice(0, 40))),
  ],
  ['accepts an expired token', unauthorized('with an expired token'), accepting((token) => token === EXPIRED_TOKEN)],
  [
    'accepts an unsigned JWT',
    unauthorized('with an unsigned JWT'),
    accepting((token) => isJwt(token) && token.endsWith('.')),
  ],
  [
    'does not verify the signature of a JWT',
    unauthorized('with a JWT that somebody else signed'),
    accepting((token) => isJwt(token) && !token.endsWith('.')),
  ],
  [
    'accepts another scheme',
    unauthorized('with another scheme'),
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
    special(error(400), (event) => textOf(event) === '{"id":'),
  ],
  [
    'knows the scheme in one case only',
    'the scheme "bearer" in lower case is a 200, and again',
    special(error(401), (event) => headerOf(event, 'authorization')?.startsWith('bearer ')),
  ],
  ...[undefined, 'Bearer error="invalid_token"', 'Bearer realm="x"'].map(
    (challenge): Row => [
      `sends the challenge ${challenge}`,
      unauthorized('with an unknown token'),
      responding(({ headers }) => ({ headers: { ...headers, [CHALLENGE]: challenge } })),
    ],
  ),
  [
    'names an error in the challenge though no token was sent',
    unauthorized('without Authorization header'),
    responding(({ headers }) => ({ headers: { ...headers, [CHALLENGE]: 'Bearer realm="x", error="invalid_token"' } })),
  ],
  ...['an empty object is error 400, its message names id and name', unauthorized('with an unknown token')].map(
    (check): Row => [
      'shows the token',
      check,
      responding(({ body }, event) => ({
        body: body.replace('"message":"', `$&${headerOf(event, 'authorization')} `),
      })),
    ],
  ),
];

const RESPONSES: Row[] = [
  [
    'responds with status 201',
    A_PLANT,
    responding(({ statusCode }) => ({ statusCode: statusCode === 200 ? 201 : 400 })),
  ],
  ['shows the id', A_PLANT, responding(({ body }) => ({ body: body.replace('{"name"', '{"id":1,"name"') }))],
  [
    'shows a tag that is not there',
    WITHOUT_TAG,
    responding(({ body }) => ({ body: body.replace('{"name":"check"}', '{"name":"check","tag":""}') })),
  ],
  [
    'has more members in its errors',
    'null is error 400',
    responding(({ body }) => ({ body: body.replace('{"error"', '{"stack":"x","error"') })),
  ],
  [
    'does not name the member',
    naming('a missing name', 'name'),
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
  ['lets no page of another origin read its responses', READABLE, responding(() => ({ headers: JSON_TYPE }))],
  [
    'lets no page read its responses to requests without a token',
    READABLE,
    responding(({ body }) => (body.includes('401') ? { headers: JSON_TYPE } : {})),
  ],
];

const HEADERS: Row[] = [
  ...['authorization', 'Authorization'].map(
    (name): Row => [`reads only ${name} in this case`, A_PLANT, special(error(401), ({ headers }) => !headers[name])],
  ),
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map(
    (type): Row => [
      `does not accept the Content-Type ${type}`,
      `the Content-Type ${type} is a 200, and again`,
      special(error(415), (event) => typeOf(event) === type),
    ],
  ),
  ...[
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/vnd.api+json',
  ].map(
    (type): Row => [
      `accepts the Content-Type ${type}`,
      `POST /plants with the Content-Type ${type} is error 415`,
      special(error(400), (event) => typeOf(event) === type),
    ],
  ),
  [
    'needs no Content-Type',
    'POST /plants without Content-Type is error 415',
    special(error(400), (event) => !typeOf(event)),
  ],
];

const BODIES: Row[] = [
  ['accepts null', 'null is error 400', special(plant('x'), (event) => textOf(event) === 'null')],
  ['accepts a list', 'a list is error 400', reading((text) => text.replaceAll(/^\[|\]$/g, ''))],
  [
    'accepts a body that is not JSON',
    'POST /plants with a body that is not JSON is error 400',
    special(plant('x'), (event) => textOf(event) === '{"id":'),
  ],
  [
    'accepts an empty body',
    'POST /plants with an empty body is error 400',
    special(plant('x'), (event) => !event.body && headerOf(event, 'authorization')),
  ],
  ['replaces what is not UTF-8', 'a body that is not UTF-8 is error 400', reading((text) => text)],
  [
    'stores a body that it refuses',
    'a body that is not UTF-8, with the Content-Type application/vnd.api+json, is error 415, and not stored',
    async (event, correct) => {
      if (typeOf(event) !== 'application/vnd.api+json') return correct(event);
      const headers = { ...withToken(event).headers, 'content-type': 'application/json' };
      await correct({ ...withBody(event, textOf(event)), headers });
      return correct(event);
    },
  ],
  [
    'refuses members beside its own',
    'a plant with other members, which are ignored, is a 200, and again',
    special(error(400), (event) => textOf(event).includes('colour')),
  ],
  [
    'accepts a plant without a name',
    naming('a missing name', 'name'),
    reading((text) => text.replace(/(?<!"name".*)\}$/, ',"name":""}')),
  ],
  [
    'accepts a lone surrogate',
    naming('a lone surrogate', 'name'),
    reading((text) => text.replaceAll('\\ud800', '\ufffd')),
  ],
  ['coerces a name', naming('a number as name', 'name'), reading((text) => text.replace('"name":7', '"name":"7"'))],
  ['coerces a tag', naming('null as tag', 'tag'), reading((text) => text.replace('"tag":null', '"tag":""'))],
  [
    'accepts plants of over 400 KB',
    'a plant of over 400 KB is error 413',
    special(plant('x'), (event) => textOf(event).length > 400_000),
  ],
];

const IDS: Row[] = [
  [
    'rounds ids',
    TWO_IDS,
    reading((text) =>
      text.replace(/"id":(-?\d{16,})(?=[,}])/, (_, id) => `"id":${BigInt.asIntN(64, BigInt(Number(id)) - 1024n)}`),
    ),
  ],
  [
    'has one id for all plants',
    WITHOUT_TAG,
    reading((text) => text.replace(/"id":-?\d{16,}(?=[,}])/, '"id":9218868437227405000')),
  ],
  ['drops the sign of an id', TWO_IDS, reading((text) => text.replace('"id":-', '"id":'))],
  [
    'accepts an id in quotes',
    naming('an id in quotes', 'id'),
    reading((text) => text.replace(/"id":"(\d+)"/, '"id":$1')),
  ],
  ['truncates an id', naming('an id with a fraction', 'id'), reading((text) => text.replace(/("id":-?\d+)\.5/, '$1'))],
  [
    'clamps an id',
    naming('an id over the highest int64', 'id'),
    reading((text) => text.replace(/"id":1\d{19}\b/, '"id":1')),
  ],
  [
    'accepts no id that ends with .0',
    'an id in the form 7.0 is accepted',
    reading((text) => text.replace('.0}', '.5}')),
  ],
  [
    'accepts no id that ends with e2',
    'an id in the form 1e2 is accepted',
    reading((text) => text.replace('e2}', '.5}')),
  ],
];

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
    'a plant under an id in use, if it is a different one, is a 200, and stored exactly',
    responding(({ body }, event) => (body.includes('409') ? plant(String(JSON.parse(textOf(event)).name)) : {})),
  ],
  ['refuses a repeated request', A_PLANT, special(error(409), isRepeated)],
  [
    'refuses names of more than 255 characters',
    LONG_NAME,
    special(error(400), (event) => /"name":"[^"]{256}/.test(textOf(event))),
  ],
  ['cuts names', LONG_NAME, storing((name) => name.slice(0, 1024))],
  ['trims names', ODD_NAME, storing((name) => name.trim())],
  ['normalizes names', ODD_NAME, storing((name) => name.normalize())],
  [
    'crashes on some plants',
    ODD_NAME,
    (event, correct) => {
      if (textOf(event).includes('植物')) throw new Error('no such plant');
      return correct(event);
    },
  ],
];

test.each([...TOKENS, ...RESPONSES, ...HEADERS, ...BODIES, ...IDS, ...PLANTS])(
  'a version that %s fails the check "%s"',
  async (_, title, version) => {
    const [first, check] = [A_PLANT, title].map((each) => ofFunction.find((candidate) => candidate.title === each));
    expect(check, title).toBeDefined();
    const client = await clientOf(version);
    if (check !== first) await first?.run(client).catch(() => {});
    await expect(check?.run(client)).rejects.toThrow();
  },
);

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
