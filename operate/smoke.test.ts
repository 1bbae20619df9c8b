import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, test, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { type OwnService, startOwnService } from '../test/support/own-service.ts';
import { type Answered, type Change, startChanged } from '../test/support/stand-in-service.ts';
import { runTool } from '../test/support/tool.ts';
import { Caller } from './caller.ts';
import { HIGHEST_ID } from './smoke/create-plant-rules.ts';
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

test('the smoke holds on a sound service, again and several times at once', async () => {
  for (const { code, stdout } of await Promise.all([1, 2, 3].map(() => runTool('smoke', [service.url])))) {
    expect(stdout).not.toContain('FAIL');
    expect(stdout).toMatch(/\n\d+ rules hold, 0 do not; [\d.]+ s\.\n$/);
    expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
    expect(code).toBe(0);
  }
});

/** Takes a request that it has seen for another plant's. */
function refusingRepeats(): Change {
  const seen = new Set<string>();
  return (_, { body: sent }) => {
    if (seen.has(sent)) return CONFLICT;
    seen.add(sent);
    return {};
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
  ['creates one of ten at once', 'one plant ten times at once is a 200, and again', refusingRepeats()],
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
    (_, { body: sent }) => (sent.includes('ud800') ? { status: 200, body: '{"name":"x"}' } : {}),
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
    'is confused by parameters of JSON',
    'the Content-Type application/json; charset=utf-8 is a 200, and again',
    ({ body }, { headers }) =>
      headers['content-type']?.includes(';')
        ? { status: 400, body: body.replace('{"name"', '{"error":415,"message"') }
        : {},
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
    'stores bytes that it refuses',
    'bytes that are no UTF-8, sent as application/vnd.api+json, is error 415, and nothing is stored',
    (_, { headers, body }) => {
      if (headers['content-type'] !== 'application/json') return {};
      return body.includes('\ufffd') ? { status: 200, body: '{"name":"\ufffd"}' } : CONFLICT;
    },
  ],
  [
    'gives no request id',
    'each answer to a plant has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers: { 'x-amz-apigw-id': _, ...others } }) => ({ headers: others }),
  ],
  [
    'gives the request id that a caller chose',
    'each answer to a plant has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers }, sent) => ({ headers: { ...headers, 'x-amz-apigw-id': sent.headers['x-amzn-requestid'] } }),
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
  const caller = new Caller(await startChanged(service.url, change), DEVELOPMENT_TOKEN);
  const found = rules.find((candidate) => candidate.rule.startsWith(rule));
  expect(found, rule).toBeDefined();
  await expect(found?.check(caller)).rejects.toThrow(/; .+ must /);
});

test('ids that other plants hold are passed over for others, or told as taken, the same each time', async () => {
  const used = await startOwnService();
  try {
    const callers = [HIGHEST_ID, HIGHEST_ID - 1n, HIGHEST_ID - 2n, HIGHEST_ID - 7n, HIGHEST_ID - 8n, HIGHEST_ID - 9n];
    const headers = { ...JSON_TYPE, authorization: `Bearer ${DEVELOPMENT_TOKEN}` };
    for (const id of callers)
      await fetch(`${used.url}/plants`, { method: 'POST', headers, body: `{"id":${id},"name":"a caller's own"}` });
    const { code, stdout } = await runTool('smoke', [used.url]);
    expect(stdout).toMatch(/^ok +a plant is a 200/m);
    expect(stdout).toMatch(
      /^taken +the highest int64 as id is a 200, and again: the id 9223372036854775807 is in use by a different plant; .*delete it/m,
    );
    expect(stdout).not.toContain('FAIL');
    expect(code).toBe(0);

    const plants = await stored();
    const again = await runTool('smoke', [used.url, '--json']);
    expect(again.code).toBe(0);
    const report = JSON.parse(again.stdout);
    expect(report).toMatchObject({ failed: 0, taken: 1 });
    expect(report.rules).toContainEqual({
      rule: 'the highest int64 as id is a 200, and again',
      state: 'taken',
      seen: expect.stringContaining('9223372036854775807'),
    });
    expect(await stored()).toEqual(plants);
  } finally {
    await used.close();
  }
  async function stored() {
    const { client, plantsTable: TableName } = used.engine;
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    return Items.toSorted((one, other) => Number(BigInt(one['id']?.N ?? 0) - BigInt(other['id']?.N ?? 0)));
  }
});

test('a service that answers each plant with error 409 is not sound, whoever may hold the ids', async () => {
  const url = await startChanged(service.url, ({ status }) => (status === 200 ? CONFLICT : {}));
  const { code, stdout } = await runTool('smoke', [url]);
  expect(stdout).toMatch(/^taken +a plant is a 200, and again: the ids \d+, .+ are in use by different plants; /m);
  expect(stdout).toMatch(/^FAIL +some plant can be created/m);
  expect(stdout).toMatch(/\n\d+ rules hold, 1 do not; /);
  expect(code).toBe(1);
});

test('the report for programs has each rule, and what was seen where one fails', async () => {
  const url = await startChanged(service.url, ({ body }) => ({ body: body.replace('"error":413', '"error":500') }));
  const { code, stdout } = await runTool('smoke', [url, '--json']);
  expect(code).toBe(1);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ baseUrl: url, failed: 2, taken: 0, notChecked: [429, 500, 503, 504] });
  expect(report.rules).toHaveLength(report.passed + report.failed);
  expect(report.rules).toContainEqual({
    rule: 'a body of 7 MB is error 413',
    state: 'failed',
    seen: expect.stringContaining('it must be {"status":400,"error":413}'),
  });
  expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
});
