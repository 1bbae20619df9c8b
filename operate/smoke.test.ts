import { type AttributeValue, DeleteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, test, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { type OwnService, startOwnService } from '../test/support/own-service.ts';
import { type Answered, type Change, startChanged, startStandIn } from '../test/support/stand-in-service.ts';
import { runToolHere } from '../test/support/tool.ts';
import { HttpCaller } from './caller.ts';
import { createPlantRules, HIGHEST_ID } from './smoke/create-plant-rules.ts';
import { outcomesOf } from './smoke/outcomes.ts';
import { rules } from './smoke/rules.ts';

// A whole smoke waits its turn on a busy machine; this ends a hang.
vi.setConfig({ testTimeout: 120_000 });

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService();
  return service.close;
});

const JSON_TYPE = { 'content-type': 'application/json' };
const CONFLICT = { status: 400, body: '{"error":409,"message":"The id is in use by a different plant."}' };

test('the smoke holds on a sound service, and two at once do', async () => {
  const caller = new HttpCaller(service.url, DEVELOPMENT_TOKEN);
  const [outcomes, { code, stdout, stderr }] = await Promise.all([
    Array.fromAsync(outcomesOf(rules, caller)),
    runToolHere('smoke', [service.url]),
  ]);
  expect(outcomes.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(stdout).toMatch(
    /^(ok {4}.+\n){50,}\nNot to be seen from outside: errors 429, 500, 503, 504\.\n\d+ rules hold, 0 do not; \d+\.\d s\.\n$/,
  );
  expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('the smoke is not begun with a token that is not valid', async () => {
  const { code, stdout, stderr } = await runToolHere('smoke', [service.url, '--token', 'wrong']);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: `The token is not valid at ${service.url}.\n`,
  });
});

test('the smoke has to be told where', async () => {
  const { code, stdout, stderr } = await runToolHere('smoke', []);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^BASE_URL is missing\.\n\nUsage: npm run smoke -- BASE_URL --token TOKEN \[--json\]\n/);
});

const TAKEN_FOR_A_PLANT = { status: 200, body: '{"name":"x"}' };

/** Takes a request that it has seen for another plant's. */
function refusingRepeats(): Change {
  const seen = new Set<string>();
  return (_, { body: sent }) => {
    if (seen.has(sent)) return CONFLICT;
    seen.add(sent);
    return {};
  };
}

/** Fails the third and each further of the same request. */
function refusingMany(): Change {
  const times = new Map<string, number>();
  return (_, { body: sent }) => {
    times.set(sent, (times.get(sent) ?? 0) + 1);
    return Number(times.get(sent)) > 2 ? CONFLICT : {};
  };
}

/** Takes the first plant for a different one once it has refused the second. */
function changingWhatItRefuses(): Change {
  let changed = false;
  return (_, { body: sent }) => {
    changed ||= sent.includes('second');
    return changed && sent.endsWith('"name":"first"}') ? CONFLICT : {};
  };
}

/** Headers with this challenge in place of theirs. */
function challenging(headers: Answered['headers'], challenge: string | undefined): Answered['headers'] {
  const { 'www-authenticate': _, 'x-amzn-remapped-www-authenticate': __, ...others } = headers;
  return { ...others, ...(challenge !== undefined && { 'www-authenticate': challenge }) };
}

test.each<[string, string, Change]>([
  ['answers 201', 'a plant is a 200, and again', ({ status }) => (status === 200 ? { status: 201 } : {})],
  [
    'answers 404 as 404',
    '/none/a/b by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, whatever is sent, is error 404',
    ({ body }) => (body.includes('404') ? { status: 404 } : {}),
  ],
  [
    'answers a missing path in HTML',
    '/plant by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, whatever is sent, is error 404',
    ({ body }) => (body.includes('404') ? { headers: { 'content-type': 'text/html' }, body: '<html>no</html>' } : {}),
  ],
  ['tells the id', 'a plant is a 200, and again', ({ body }) => ({ body: body.replace('{"name"', '{"id":1,"name"') })],
  [
    'tells a tag that is not there',
    'a plant without a tag, answered without one, is a 200, and again',
    ({ body }) => ({ body: body.replace('{"name":"smoke"}', '{"name":"smoke","tag":""}') }),
  ],
  ['refuses a plant of its own the second time', 'a plant is a 200, and again', refusingRepeats()],
  ['creates two of ten at once', 'one plant ten times at once is a 200, and again', refusingMany()],
  [
    'knows the scheme in one case alone',
    'the scheme "bearer" in lower case is a 200, and again',
    (_, { headers }) =>
      headers.authorization?.startsWith('bearer ') ? { status: 400, body: '{"error":401,"message":"x"}' } : {},
  ],
  [
    'takes any plant for an id',
    'a different plant under an id in use is error 409, and changes nothing',
    ({ body }, sent) => (body.includes('409') ? { status: 200, body: sent.body.replace(/"id":\d+,/, '') } : {}),
  ],
  [
    'changes a plant that it refuses to change',
    'a different plant under an id in use is error 409, and changes nothing',
    changingWhatItRefuses(),
  ],
  [
    'names no member',
    'a missing name is error 400, its message names name',
    ({ body }) => ({ body: body.replace(/"message":"[^"]*"/, '"message":"bad"') }),
  ],
  [
    'takes a lone surrogate',
    'a lone surrogate is error 400, its message names name',
    (_, { body: sent }) => (sent.includes('ud800') ? TAKEN_FOR_A_PLANT : {}),
  ],
  [
    'has an Error with more',
    'null is error 400',
    ({ body }) => ({ body: body.replace('{"error"', '{"stack":"x","error"') }),
  ],
  [
    'is at fault',
    'a plant of over 400 KB is error 413',
    ({ body }) => ({ body: body.replace('"error":413', '"error":500') }),
  ],
  [
    'answers a HEAD as it likes',
    '/ by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, whatever is sent, is error 404',
    (_, { method }) => (method === 'HEAD' ? { status: 403 } : {}),
  ],
  [
    'wants JSON where nothing is',
    '/none/a/b by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, whatever is sent, is error 404',
    ({ body }, { headers }) => (headers['content-type']?.includes('octet') ? { body: body.replace('404', '415') } : {}),
  ],
  [
    'wants a token where nothing is',
    '/none/a/b by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, whatever is sent, is error 404',
    ({ body }, { headers }) => (headers.authorization === undefined ? { body: body.replace('404', '401') } : {}),
  ],
  [
    'lets no page of another origin in by its preflight',
    'OPTIONS /plants is error 404, or a preflight that lets pages of other origins send ',
    () => ({ status: 200, headers: JSON_TYPE, body: '{}' }),
  ],
  [
    'challenges nobody',
    'POST /plants without Authorization header is error 401, its challenge a Bearer realm with no error',
    ({ headers }) => ({ headers: challenging(headers, undefined) }),
  ],
  [
    'complains of a token that was not sent',
    'POST /plants with another scheme is error 401, its challenge a Bearer realm with no error',
    ({ headers }) => ({ headers: challenging(headers, 'Bearer realm="x", error="invalid_token"') }),
  ],
  [
    'complains of no token that was sent',
    'POST /plants with an unknown token, which is not told back, is error 401, its challenge a Bearer realm with error="invalid_token"',
    ({ headers }) => ({ headers: challenging(headers, 'Bearer realm="x"') }),
  ],
  [
    'names no realm',
    'POST /plants with a token of another form is error 401, its challenge a Bearer realm with error="invalid_token"',
    ({ headers }) => ({ headers: challenging(headers, 'Bearer error="invalid_token"') }),
  ],
  [
    'takes every type of JSON',
    'POST /plants with the Content-Type application/problem+json is error 415',
    ({ body }) => ({ body: body.replace('415', '400') }),
  ],
  [
    'looks at what it is sent before the type of it',
    'bytes that are no UTF-8, sent as application/vnd.api+json, is error 415, and nothing is stored',
    ({ body }) => ({ body: body.replace('"error":415', '"error":400') }),
  ],
  [
    'stores bytes that it refuses',
    'bytes that are no UTF-8, sent as application/vnd.api+json, is error 415, and nothing is stored',
    (_, { headers, body }) => {
      if (headers['content-type'] !== 'application/json') return {};
      return body.includes('\ufffd') ? { status: 200, body: '{"name":"\ufffd"}' } : CONFLICT;
    },
  ],
  ...[/"name"/, /"error":400/, /"error":415/].map((said): [string, string, Change] => [
    `gives no request id in an answer like ${said}`,
    'each answer to a plant has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers: { 'x-amz-apigw-id': _, ...others }, body }) => (said.test(body) ? { headers: others } : {}),
  ]),
  [
    'tells the token',
    'null is error 400',
    ({ body }, { headers }) => ({ body: body.replace('"message":"', `$&${headers.authorization}`) }),
  ],
  ['takes null', 'null is error 400', (_, { body }) => (body === 'null' ? TAKEN_FOR_A_PLANT : {})],
  ['takes a list', 'a list is error 400', (_, { body }) => (body.startsWith('[{"id":') ? TAKEN_FOR_A_PLANT : {})],
  [
    'puts a sign of its own in place of what is no UTF-8',
    'bytes that are no UTF-8 is error 400',
    (_, { body }) => (/^\{"id":\d+,"name":"\ufffd"\}$/.test(body) ? { status: 200, body: '{"name":"\ufffd"}' } : {}),
  ],
  [
    'takes no members beside its own',
    'a plant with other members, which are ignored, is a 200, and again',
    (_, { body }) => (/"(?!id|name|tag)\w+":/.test(body) ? { status: 400, body: '{"error":400,"message":"x"}' } : {}),
  ],
  ...['7.0', '-0', '1e2'].map((id): [string, string, Change] => [
    `takes no ${id} for an id`,
    `${id} is an id`,
    (_, { body }) => (body.includes(`:${id}}`) ? { body: '{"error":400,"message":"id and name"}' } : {}),
  ]),
  [
    'does not say what is missing',
    '7.0 is an id',
    ({ body }) => ({ body: body.replace(/"message":"[^"]*"/, '"message":"bad"') }),
  ],
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map((type): [string, string, Change] => [
    `does not take the Content-Type ${type}`,
    `the Content-Type ${type} is a 200, and again`,
    (_, { headers }) => (headers['content-type'] === type ? { status: 400, body: '{"error":415,"message":"x"}' } : {}),
  ]),
  [
    'gives the request id that a caller chose',
    'each answer to a plant has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers }, { headers: { 'x-amzn-requestid': chosen } }) => ({
      headers: { ...headers, ...(chosen !== undefined && { 'x-amz-apigw-id': chosen }) },
    }),
  ],
  [
    'gives each request the same id',
    'each answer to a plant has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers }) => ({ headers: { ...headers, 'x-amz-apigw-id': 'same' } }),
  ],
  [
    'sends a caller elsewhere',
    'POST /plants without a token, whatever the body, is error 401',
    () => ({ status: 307, headers: { location: `${service.url}/plants` } }),
  ],
])('the smoke fails on a service that %s', async (_, rule, change) => {
  const caller = new HttpCaller(await startChanged(service.url, change), DEVELOPMENT_TOKEN);
  const found = rules.find((candidate) => candidate.rule.startsWith(rule));
  expect(found, rule).toBeDefined();
  await expect(found?.check(caller)).rejects.toThrow(/; .+ must /);
});

const creating = rules.filter(({ creates }) => creates);

async function stored() {
  const { client, plantsTable: TableName } = service.engine;
  return (await client.send(new ScanCommand({ TableName }))).Items ?? [];
}

async function storeOnly(plants: Record<string, AttributeValue>[]): Promise<void> {
  const { client, plantsTable: TableName } = service.engine;
  for (const { id = { N: '' } } of await stored()) await client.send(new DeleteItemCommand({ TableName, Key: { id } }));
  for (const Item of plants) await client.send(new PutItemCommand({ TableName, Item }));
}

test('a smoke leaves the same plants behind as each before it, or it would find its ids taken', async () => {
  await storeOnly([]);
  const caller = new HttpCaller(service.url, DEVELOPMENT_TOKEN);
  for (const { check } of creating) await check(caller);
  const left = (await stored()).map(({ id, name, tag }) => [id?.N, name?.S, ...(tag ? [tag.S] : [])]);
  expect(Object.fromEntries(left.map(([id, ...plant]) => [id, plant]))).toEqual({
    '9223372036854775807': ['highest'],
    '-9223372036854775808': ['lowest'],
    '9223372036854775806': ['smoke', 'check'],
    '9223372036854775805': ['smoke'],
    '9223372036854775804': ['', ''],
    '9223372036854775803': ['🌱"\\\u0000\u2028é', '植物\n'],
    '9223372036854775802': ['smoke'],
    '9223372036854775801': ['at once'],
    '9223372036854775800': ['first'],
    '9223372036854775798': ['after'],
  });
  const { stdout } = await runToolHere('smoke', ['--help']);
  expect(stdout).toContain('ids 9223372036854774808 to 9223372036854775807, and -9223372036854775808\nare left behind');
});

test('ids that other plants hold are passed over for others, or told as taken, the same each time', async () => {
  await storeOnly(
    [0n, 1n, 2n, 7n, 8n, 9n].map((offset) => ({
      id: { N: String(HIGHEST_ID - offset) },
      name: { S: 'a caller’s own' },
    })),
  );
  const caller = new HttpCaller(service.url, DEVELOPMENT_TOKEN);
  const first = await Array.fromAsync(outcomesOf(creating, caller));
  expect(first.filter(({ state }) => state !== 'ok')).toEqual([
    {
      rule: 'the highest int64 as id is a 200, and again',
      state: 'taken',
      seen: 'the id 9223372036854775807 is in use by a different plant; leave it so, or delete it from the table to have this rule checked',
    },
  ]);
  const plants = await stored();
  expect(await Array.fromAsync(outcomesOf(creating, caller))).toEqual(first);
  expect(new Set(await stored())).toEqual(new Set(plants));
});

test('where each plant is answered with error 409, just the rules that create some are not checked', async () => {
  const url = await startChanged(service.url, ({ status }) => (status === 200 ? CONFLICT : {}));
  const outcomes = await Array.fromAsync(outcomesOf(createPlantRules, new HttpCaller(url, DEVELOPMENT_TOKEN)));
  const taken = outcomes.filter(({ state }) => state === 'taken');
  expect(taken.map(({ rule }) => rule)).toEqual(creating.map(({ rule }) => rule));
  expect(taken.find(({ rule }) => rule.startsWith('a plant is'))?.seen).toMatch(
    /^the ids \d+(, \d+){4} are in use by different plants; leave it so, or delete one of them from the table /,
  );
  expect(outcomes.filter(({ state }) => state === 'failed').map(({ rule }) => rule)).toEqual([
    'some plant can be created',
  ]);
});

test('what does not hold, and what is not checked, is told to a person and to a program', async () => {
  const url = await startStandIn(({ path, body }) => {
    if (body.includes(`"id":${HIGHEST_ID},`)) return { ...CONFLICT, headers: JSON_TYPE };
    return { status: 400, headers: JSON_TYPE, body: `{"error":${path === '/plants' ? 400 : 404},"message":"name"}` };
  });
  const { code, stdout } = await runToolHere('smoke', [url]);
  const count = (label: string) => stdout.split('\n').filter((line) => line.startsWith(label)).length;
  const [passed, failed, taken] = [count('ok    '), count('FAIL  '), count('taken ')];
  expect(stdout).toMatch(/^ok {4}null is error 400$/m);
  expect(stdout).toMatch(
    /^taken the highest int64 as id is a 200, and again: the id \d+ is in use by a different plant; /m,
  );
  expect(stdout).toMatch(/^FAIL {2}a body of 7 MB is error 413: .+; it must be \{"status":400,"error":413\}$/m);
  expect(stdout).toContain(`\nRules not checked, since different plants hold their ids: ${taken}.\n`);
  expect(stdout).toContain(`\n${passed} rules hold, ${failed} do not; `);
  expect(code).toBe(1);

  const before = Date.now();
  const asked = await runToolHere('smoke', [url, '--json']);
  const report = JSON.parse(asked.stdout);
  expect(report).toMatchObject({ baseUrl: url, passed, failed, taken, notChecked: [429, 500, 503, 504] });
  expect(report.rules).toHaveLength(passed + failed + taken);
  for (const state of ['failed', 'taken']) {
    expect(report.rules).toContainEqual({ rule: expect.any(String), state, seen: expect.any(String) });
  }
  expect(report.rules).toContainEqual({ rule: 'null is error 400', state: 'ok' });
  expect(Date.parse(report.startedAt)).toBeGreaterThanOrEqual(before);
  expect(report.durationMs).toBeGreaterThanOrEqual(0);
  expect(report.durationMs).toBeLessThanOrEqual(Date.now() - before);
  expect(asked.stdout).not.toContain(DEVELOPMENT_TOKEN);
  expect(asked.code).toBe(1);
});
