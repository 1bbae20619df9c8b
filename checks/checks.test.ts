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
/** Handles an event as a broken version of the function. It may call the correct version and change the response. */
type BrokenVersion = (event: APIGatewayProxyEvent, correct: Handler) => unknown;

let engine: Engine;
let correct: Handler;
/** The token of the newest client. Each client has its own token, and so its own plant ids. */
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

/** Returns a client of a version of createPlant, with a new token. */
async function clientOf(version: BrokenVersion): Promise<Client> {
  validToken = newToken('checks', 0, 0).token;
  await engine.putToken(validToken, 'checks', Math.ceil(Date.now() / 1000 + 3600));
  const send = async ({ input }: { input: { Payload: string } }) => {
    const response = await version(JSON.parse(input.Payload), correct);
    return { Payload: Buffer.from(JSON.stringify(response)) };
  };
  // The cast is safe because functionSender uses only this method.
  const sendTo = functionSender({ send } as unknown as LambdaClient);
  return new Client(validToken, (request) => sendTo('the version', '/plants', request));
}

const functionChecks = checksOfFunction('createPlant', FACTS).checks;

test('a correct version passes all checks; a second run creates no more plants', async () => {
  const storedIds = async () => {
    const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: engine.plantsTable }));
    return Items.map(({ id }) => BigInt(String(id?.N)));
  };
  const before = await storedIds();
  const client = await clientOf((event) => correct(event));
  const failedChecks = async () => {
    const results = await Array.fromAsync(runChecks(functionChecks, client));
    return results.filter(({ state }) => state !== 'ok');
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

/** A version that changes the body before it reads it. */
const changingBody =
  (change: (text: string) => string): BrokenVersion =>
  (event, correct) =>
    event.body ? correct(withBody(event, change(textOf(event)))) : correct(event);

/** A version that changes members of the response. */
const changingResponse =
  (change: (response: APIGatewayProxyResult, event: APIGatewayProxyEvent) => object): BrokenVersion =>
  async (event, correct) => {
    const response = await correct(event);
    return { ...response, ...change(response, event) };
  };

/** A version that has a fixed response to some events. */
const respondingWith =
  (response: object, isMatch: (event: APIGatewayProxyEvent) => unknown): BrokenVersion =>
  (event, correct) =>
    isMatch(event) ? response : correct(event);

/** A version that also accepts other tokens. */
const accepting =
  (accepts: (token: string) => boolean): BrokenVersion =>
  (event, correct) => {
    const token = /^Bearer (\S+)$/.exec(headerOf(event, 'authorization') ?? '')?.[1];
    return correct(token !== undefined && accepts(token) ? withToken(event) : event);
  };

/** A version that changes the name of a plant before it stores it. */
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
const A_PLANT = 'a plant gets status 200, also when repeated';
const WITHOUT_TAG = 'a plant without a tag gets status 200, also when repeated';
const CORS = 'pages of https://app.example.com can read the responses to POST /plants';
const LARGE_IDS = 'ids beyond 2^53 that differ by one are different plants, also negative ids';
const UNICODE_NAME = 'a name with spaces, control characters and Unicode gets status 200 and is stored exactly';
const LONG_NAME = 'a name of 5,000 characters gets status 200 and is stored exactly';
const unauthorized = (what: string) => `POST /plants ${what} gets error 401 and a WWW-Authenticate header`;
const memberError = (what: string, member: string) => `${what} gets error 400 with ${member} in the message`;

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
    unauthorized('with a valid token and one more character'),
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
    unauthorized('with a JWT signed with an unknown key'),
    accepting((token) => isJwt(token) && !token.endsWith('.')),
  ],
  [
    'accepts another scheme',
    unauthorized('with the scheme Basic'),
    (event, correct) => correct(headerOf(event, 'authorization')?.startsWith('Basic') ? withToken(event) : event),
  ],
  [
    'stores a plant before it checks the token',
    'a plant with an unknown token gets error 401 and is not stored',
    async (event, correct) => {
      await correct(withToken(event));
      return correct(event);
    },
  ],
  [
    'validates the body before the token',
    'POST /plants without a token and with an invalid body gets error 401',
    respondingWith(error(400), (event) => textOf(event) === '{"id":'),
  ],
  [
    'accepts the scheme "Bearer" in one case only',
    'the scheme "bearer" in lower case gets status 200, also when repeated',
    respondingWith(error(401), (event) => headerOf(event, 'authorization')?.startsWith('bearer ')),
  ],
  ...[undefined, 'Bearer error="invalid_token"', 'Bearer realm="x"'].map(
    (challenge): Row => [
      `sends the challenge ${challenge}`,
      unauthorized('with an unknown token'),
      changingResponse(({ headers }) => ({ headers: { ...headers, [CHALLENGE]: challenge } })),
    ],
  ),
  [
    'has an error in the challenge for a request without a token',
    unauthorized('without Authorization header'),
    changingResponse(({ headers }) => ({
      headers: { ...headers, [CHALLENGE]: 'Bearer realm="x", error="invalid_token"' },
    })),
  ],
  ...['an empty object gets error 400 with id and name in the message', unauthorized('with an unknown token')].map(
    (check): Row => [
      'has the token in its response',
      check,
      changingResponse(({ body }, event) => ({
        body: body.replace('"message":"', `$&${headerOf(event, 'authorization')} `),
      })),
    ],
  ),
];

const RESPONSES: Row[] = [
  [
    'responds with status 201',
    A_PLANT,
    changingResponse(({ statusCode }) => ({ statusCode: statusCode === 200 ? 201 : 400 })),
  ],
  [
    'has the id in its response',
    A_PLANT,
    changingResponse(({ body }) => ({ body: body.replace('{"name"', '{"id":1,"name"') })),
  ],
  [
    'adds a tag to its response',
    WITHOUT_TAG,
    changingResponse(({ body }) => ({ body: body.replace('{"name":"check"}', '{"name":"check","tag":""}') })),
  ],
  [
    'has unknown members in its errors',
    'null as body gets error 400',
    changingResponse(({ body }) => ({ body: body.replace('{"error"', '{"stack":"x","error"') })),
  ],
  [
    'does not have the member’s name in the message',
    memberError('a missing name', 'name'),
    changingResponse(({ body }) => ({ body: body.replace(/"message":"[^"]*"/, '"message":"bad"') })),
  ],
  ['responds in HTML', A_PLANT, changingResponse(() => ({ headers: { 'Content-Type': 'text/html' } }))],
  ['responds with nothing', A_PLANT, () => null],
  ['sets isBase64Encoded for plain text', A_PLANT, changingResponse(() => ({ isBase64Encoded: true }))],
  [
    'has a header that is not a string',
    A_PLANT,
    changingResponse(({ headers }) => ({ headers: { ...headers, 'X-Other': { a: 1 } } })),
  ],
  ['sends no CORS headers', CORS, changingResponse(() => ({ headers: JSON_TYPE }))],
  [
    'sends no CORS headers with error 401',
    CORS,
    changingResponse(({ body }) => (body.includes('401') ? { headers: JSON_TYPE } : {})),
  ],
];

const HEADERS: Row[] = [
  ...['authorization', 'Authorization'].map(
    (name): Row => [
      `reads the header only as ${name}`,
      A_PLANT,
      respondingWith(error(401), ({ headers }) => !headers[name]),
    ],
  ),
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map(
    (type): Row => [
      `does not accept the Content-Type ${type}`,
      `the Content-Type ${type} gets status 200, also when repeated`,
      respondingWith(error(415), (event) => typeOf(event) === type),
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
      `POST /plants with the Content-Type ${type} gets error 415`,
      respondingWith(error(400), (event) => typeOf(event) === type),
    ],
  ),
  [
    'accepts a missing Content-Type',
    'POST /plants without Content-Type gets error 415',
    respondingWith(error(400), (event) => !typeOf(event)),
  ],
];

const BODIES: Row[] = [
  ['accepts null', 'null as body gets error 400', respondingWith(plant('x'), (event) => textOf(event) === 'null')],
  ['accepts an array', 'an array gets error 400', changingBody((text) => text.replaceAll(/^\[|\]$/g, ''))],
  [
    'accepts a body that is not JSON',
    'POST /plants with a body that is not JSON gets error 400',
    respondingWith(plant('x'), (event) => textOf(event) === '{"id":'),
  ],
  [
    'accepts an empty body',
    'POST /plants with an empty body gets error 400',
    respondingWith(plant('x'), (event) => !event.body && headerOf(event, 'authorization')),
  ],
  ['replaces bytes that are not UTF-8', 'a body that is not UTF-8 gets error 400', changingBody((text) => text)],
  [
    'stores a body that it rejects',
    'a body that is not UTF-8, with the Content-Type application/vnd.api+json, gets error 415 and is not stored',
    async (event, correct) => {
      if (typeOf(event) !== 'application/vnd.api+json') return correct(event);
      const headers = { ...withToken(event).headers, 'content-type': 'application/json' };
      await correct({ ...withBody(event, textOf(event)), headers });
      return correct(event);
    },
  ],
  [
    'rejects unknown members',
    'a plant with unknown members gets status 200, also when repeated',
    respondingWith(error(400), (event) => textOf(event).includes('colour')),
  ],
  [
    'accepts a plant without a name',
    memberError('a missing name', 'name'),
    changingBody((text) => text.replace(/(?<!"name".*)\}$/, ',"name":""}')),
  ],
  [
    'accepts a lone surrogate',
    memberError('a lone surrogate', 'name'),
    changingBody((text) => text.replaceAll('\\ud800', '\ufffd')),
  ],
  [
    'coerces a name',
    memberError('a number as name', 'name'),
    changingBody((text) => text.replace('"name":7', '"name":"7"')),
  ],
  ['coerces a tag', memberError('null as tag', 'tag'), changingBody((text) => text.replace('"tag":null', '"tag":""'))],
  [
    'accepts plants of more than 400 KB',
    'a plant of more than 400 KB gets error 413',
    respondingWith(plant('x'), (event) => textOf(event).length > 400_000),
  ],
];

const IDS: Row[] = [
  [
    'rounds ids',
    LARGE_IDS,
    changingBody((text) =>
      text.replace(/"id":(-?\d{16,})(?=[,}])/, (_, id) => `"id":${BigInt.asIntN(64, BigInt(Number(id)) - 1024n)}`),
    ),
  ],
  [
    'uses one id for all plants',
    WITHOUT_TAG,
    changingBody((text) => text.replace(/"id":-?\d{16,}(?=[,}])/, '"id":9218868437227405000')),
  ],
  ['drops the sign of an id', LARGE_IDS, changingBody((text) => text.replace('"id":-', '"id":'))],
  [
    'accepts an id in quotes',
    memberError('an id in quotes', 'id'),
    changingBody((text) => text.replace(/"id":"(\d+)"/, '"id":$1')),
  ],
  [
    'truncates an id',
    memberError('an id with a fraction', 'id'),
    changingBody((text) => text.replace(/("id":-?\d+)\.5/, '$1')),
  ],
  [
    'clamps an id',
    memberError('an id above the int64 range', 'id'),
    changingBody((text) => text.replace(/"id":1\d{19}\b/, '"id":1')),
  ],
  [
    'rejects an id that ends with .0',
    'an id in the form 7.0 is accepted',
    changingBody((text) => text.replace('.0}', '.5}')),
  ],
  [
    'rejects an id that ends with e2',
    'an id in the form 1e2 is accepted',
    changingBody((text) => text.replace('e2}', '.5}')),
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
    'the first of several plants with the same id gets status 200 and is stored exactly',
    changingResponse(({ body }, event) => (body.includes('409') ? plant(String(JSON.parse(textOf(event)).name)) : {})),
  ],
  ['rejects a repeated request', A_PLANT, respondingWith(error(409), isRepeated)],
  [
    'rejects names of more than 255 characters',
    LONG_NAME,
    respondingWith(error(400), (event) => /"name":"[^"]{256}/.test(textOf(event))),
  ],
  ['truncates names', LONG_NAME, storing((name) => name.slice(0, 1024))],
  ['trims names', UNICODE_NAME, storing((name) => name.trim())],
  ['normalizes names', UNICODE_NAME, storing((name) => name.normalize())],
  [
    'crashes on some plants',
    UNICODE_NAME,
    (event, correct) => {
      if (textOf(event).includes('植物')) throw new Error('no such plant');
      return correct(event);
    },
  ],
];

test.each([...TOKENS, ...RESPONSES, ...HEADERS, ...BODIES, ...IDS, ...PLANTS])(
  'a version that %s fails the check "%s"',
  async (_, title, version) => {
    const [first, check] = [A_PLANT, title].map((each) => functionChecks.find(({ title }) => title === each));
    expect(check, title).toBeDefined();
    const client = await clientOf(version);
    if (check !== first) await first?.run(client).catch(() => {});
    await expect(check?.run(client)).rejects.toThrow();
  },
);

const titles = (all: { title: string }[]) => all.map(({ title }) => title);

test('each check of the smoke test needs the gateway, or is also a check of one function', () => {
  const gatewayChecks = checks.filter(({ needsGateway }) => needsGateway);
  const ofFunctions = operations.flatMap(({ operationId }) =>
    checksOfFunction(operationId, { expiredToken: 'x' }).checks.filter(({ title }) => !title.includes('expired')),
  );
  expect(titles([...gatewayChecks, ...ofFunctions]).toSorted()).toEqual(titles(checks).toSorted());
});

test('throws for an unknown operation', () => {
  expect(() => checksOfFunction('none', FACTS)).toThrow('openapi.yaml has no operation none.');
});
