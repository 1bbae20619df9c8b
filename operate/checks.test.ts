import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { projectRoot } from '../local/synthesize.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { startService } from '../test/support/service.ts';
import { HIGHEST_ID, rules } from './rules.ts';
import { Service } from './service.ts';

vi.mock('node:timers/promises', { spy: true });
// A whole smoke waits its turn on a busy machine; this ends a hang.
vi.setConfig({ testTimeout: 120_000 });

let engine: Engine;
let sound: Awaited<ReturnType<typeof startService>>;
let service: string;
const servers: Server[] = [];
beforeAll(async () => {
  engine = await startEngine();
  sound = await startService(engine.template, engine);
  service = sound.url;
});
afterAll(async () => {
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
  await sound.close();
  await engine.close();
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const environment = (variables: NodeJS.ProcessEnv) => ({
  ...process.env,
  PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN,
  AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
  ...variables,
});

/** Runs a command as its npm script does, its token in the environment. */
function run(command: 'smoke' | 'load', args: string[], variables: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const options = { cwd: projectRoot, env: environment(variables) };
  return new Promise((resolve) => {
    execFile(process.execPath, [`operate/${command}.ts`, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

interface Exchanged {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

interface Sent {
  method: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Change = (answer: Exchanged, sent: Sent) => Partial<Exchanged>;

/** The real service with something changed in each answer. */
async function broken(change: Change): Promise<string> {
  const listener: RequestListener = async (request, response) => {
    const sent = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const { method = '', headers } = request;
    const answer = await new Promise<IncomingMessage>((resolve) =>
      httpRequest(service + request.url, { method, headers }, resolve).end(sent),
    );
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...passedOn } = answer.headers;
    const whole = { status: answer.statusCode ?? 0, headers: passedOn, body: await text(answer) };
    const changed = { ...whole, ...change(whole, { method, headers, body: sent.toString() }) };
    response.writeHead(changed.status, changed.headers).end(changed.body);
  };
  return listen(listener);
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const CONFLICT = { status: 400, body: '{"error":409,"message":"The id is in use by a different plant."}' };

test('the smoke holds on a sound service, again and several times at once', async () => {
  for (const { code, stdout } of await Promise.all([1, 2, 3].map(() => run('smoke', [service])))) {
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
function challenging(headers: Exchanged['headers'], challenge: string | undefined): Exchanged['headers'] {
  const { 'www-authenticate': _, 'x-amzn-remapped-www-authenticate': __, ...others } = headers;
  return { ...others, ...(challenge !== undefined && { 'www-authenticate': challenge }) };
}

test.each<[string, string, Change]>([
  ['answers 201', 'a plant is a 200, and again', ({ status }) => (status === 200 ? { status: 201 } : {})],
  [
    'answers 404 as 404',
    '/plants by GET, HEAD, PUT, PATCH, DELETE, however sent, is error 404',
    ({ body }) => (body.includes('404') ? { status: 404 } : {}),
  ],
  [
    'answers a missing path in HTML',
    '/plant by POST, OPTIONS, GET, HEAD, PUT, PATCH, DELETE, however sent, is error 404',
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
    '/ by POST, OPTIONS, GET, HEAD, PUT, PATCH, DELETE, however sent, is error 404',
    (_, { method }) => (method === 'HEAD' ? { status: 403 } : {}),
  ],
  [
    'wants JSON where nothing is',
    '/none/a/b by POST, OPTIONS, GET, HEAD, PUT, PATCH, DELETE, however sent, is error 404',
    ({ body }, { headers }) => (headers['content-type']?.includes('octet') ? { body: body.replace('404', '415') } : {}),
  ],
  [
    'wants a token where nothing is',
    '/plants by GET, HEAD, PUT, PATCH, DELETE, however sent, is error 404',
    ({ body }, { headers }) => (headers.authorization === undefined ? { body: body.replace('404', '401') } : {}),
  ],
  [
    'lets no page of another origin in by its preflight',
    'OPTIONS /plants is error 404, or a preflight that lets pages of other origins create plants',
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
    'no Authorization header is error 401, its challenge a Bearer realm with no error',
    ({ headers }) => ({ headers: challenging(headers, undefined) }),
  ],
  [
    'complains of a token that was not sent',
    'another scheme is error 401, its challenge a Bearer realm with no error',
    ({ headers }) => ({ headers: challenging(headers, 'Bearer realm="x", error="invalid_token"') }),
  ],
  [
    'complains of no token that was sent',
    'an unknown token is error 401, its challenge a Bearer realm with error="invalid_token"',
    ({ headers }) => ({ headers: challenging(headers, 'Bearer realm="x"') }),
  ],
  [
    'names no realm',
    'a token of another form is error 401, its challenge a Bearer realm with error="invalid_token"',
    ({ headers }) => ({ headers: challenging(headers, 'Bearer error="invalid_token"') }),
  ],
  [
    'takes every type of JSON',
    'the Content-Type application/problem+json is error 415',
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
    'each answer has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers: { 'x-amz-apigw-id': _, ...others } }) => ({ headers: others }),
  ],
  [
    'gives the request id that a caller chose',
    'each answer has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers }, sent) => ({ headers: { ...headers, 'x-amz-apigw-id': sent.headers['x-amzn-requestid'] } }),
  ],
  [
    'gives each request the same id',
    'each answer has a request id of its own (x-amz-apigw-id), which no caller chooses',
    ({ headers }) => ({ headers: { ...headers, 'x-amz-apigw-id': 'same' } }),
  ],
  [
    'sends a caller elsewhere',
    'a missing token, whatever the body, is error 401',
    () => ({ status: 307, headers: { location: `${service}/plants` } }),
  ],
])('the smoke fails on a service that %s', async (_, rule, change) => {
  const seen = new Service(await broken(change), DEVELOPMENT_TOKEN);
  await expect(rules.find((candidate) => candidate.rule === rule)?.check(seen)).rejects.toThrow(/; .+ must /);
});

test('ids that other plants hold are passed over for others, or told as taken, the same each time', async () => {
  const own = await startEngine();
  const used = await startService(own.template, own);
  try {
    const callers = [HIGHEST_ID, HIGHEST_ID - 1n, HIGHEST_ID - 2n, HIGHEST_ID - 7n, HIGHEST_ID - 8n, HIGHEST_ID - 9n];
    const headers = { ...JSON_TYPE, authorization: `Bearer ${DEVELOPMENT_TOKEN}` };
    for (const id of callers)
      await fetch(`${used.url}/plants`, { method: 'POST', headers, body: `{"id":${id},"name":"a caller's own"}` });
    const { code, stdout } = await run('smoke', [used.url]);
    expect(stdout).toMatch(/^ok +a plant is a 200/m);
    expect(stdout).toMatch(
      /^taken +the highest int64 as id is a 200, and again: the id 9223372036854775807 is in use by a different plant; .*delete it/m,
    );
    expect(stdout).not.toContain('FAIL');
    expect(code).toBe(0);

    const plants = await stored();
    const again = await run('smoke', [used.url, '--json']);
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
    await own.close();
  }
  async function stored() {
    const { Items = [] } = await own.client.send(new ScanCommand({ TableName: own.plantsTable }));
    return Items.toSorted((one, other) => Number(BigInt(one['id']?.N ?? 0) - BigInt(other['id']?.N ?? 0)));
  }
});

test('a service that answers each plant with error 409 is not sound, whoever may hold the ids', async () => {
  const url = await broken(({ status }) => (status === 200 ? CONFLICT : {}));
  const { code, stdout } = await run('smoke', [url]);
  expect(stdout).toMatch(/^taken +a plant is a 200, and again: the ids \d+, .+ are in use by different plants; /m);
  expect(stdout).toMatch(/^FAIL +some plant can be created/m);
  expect(stdout).toMatch(/\n\d+ rules hold, 1 do not; /);
  expect(code).toBe(1);
});

test.each<[string | undefined, number]>([
  ['3', 3000],
  ['0', 0],
  ['86400', 10_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
  [undefined, 1000],
])('a request that is throttled with Retry-After %s is sent again after %d ms', async (retryAfter, ms) => {
  vi.mocked(sleep).mockClear().mockResolvedValueOnce(undefined);
  let requests = 0;
  const url = await listen((_, response) => {
    requests += 1;
    const headers = { ...JSON_TYPE, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
    if (requests === 1) response.writeHead(400, headers).end('{"error":429,"message":"x"}');
    else response.writeHead(200, JSON_TYPE).end('{"name":"x"}');
  });
  expect(await new Service(url, 'token').send({ body: '{}' })).toMatchObject({ status: 200, plant: { name: 'x' } });
  expect(vi.mocked(sleep).mock.calls).toEqual([[ms]]);
});

test('the report for programs has each rule, and what was seen where one fails', async () => {
  const url = await broken(({ body }) => ({ body: body.replace('"error":413', '"error":500') }));
  const { code, stdout } = await run('smoke', [url, '--json']);
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

test.each<[string, 'smoke' | 'load', string[], NodeJS.ProcessEnv, RegExp]>([
  ['nobody listens', 'smoke', ['http://127.0.0.1:9'], {}, /^http:\/\/127\.0\.0\.1:9 does not answer: /],
  ['the token is not valid', 'smoke', ['SERVICE'], { PLANT_STORE_TOKEN: 'wrong' }, /^The token is not valid at /],
  ['the token is not valid', 'load', ['SERVICE'], { PLANT_STORE_TOKEN: 'wrong' }, /^The token is not valid at /],
  ['there is no token', 'smoke', ['SERVICE'], { PLANT_STORE_TOKEN: '' }, /^Usage: npm run smoke/],
  [
    'the base URL is of another service',
    'smoke',
    ['SERVICE/v1'],
    {},
    /^There is no POST \/plants at .+\/v1; BASE_URL must be /,
  ],
  ['the base URL is none', 'load', ['plants.example.com'], {}, /^BASE_URL was "plants.example.com"; it must be/],
  ['an option is unknown', 'smoke', ['SERVICE', '--fast'], {}, /^Unknown option '--fast'/],
  ['an option is no number', 'load', ['SERVICE', '--duration', 'long'], {}, /^--duration was "long"; it must be/],
])('where %s, npm run %s ends with a sentence', async (_, command, args, variables, sentence) => {
  const { code, stdout, stderr } = await run(
    command,
    args.map((arg) => arg.replace('SERVICE', service)),
    variables,
  );
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test.each([
  ['http://127.0.0.1:3000/plants', 'http://127.0.0.1:3000/plants', 'http://127.0.0.1:3000'],
  ['http://127.0.0.1:3000/v1//plants//', 'http://127.0.0.1:3000/v1//plants//', 'http://127.0.0.1:3000/v1'],
  ['https://a.example/v1?stage=dev', 'https://a.example/v1?stage=dev', 'https://a.example/v1'],
  ['https://a.example/v1/#/plants', 'https://a.example/v1/#/plants', 'https://a.example/v1'],
  ['https://me:secret@a.example', 'https://me:***@a.example/', 'https://a.example'],
])('the base URL %s is refused with what it must be', (given, shown, mustBe) => {
  expect(() => Service.of([given], 'token', '')).toThrow(
    `BASE_URL was "${shown}"; it must be the address before /plants, without user, password, query or fragment: ${mustBe}`,
  );
});

test.each([
  ['HTTPS://A.example/v1', 'https://a.example/v1'],
  ['http://127.0.0.1:3000//', 'http://127.0.0.1:3000'],
  [' https://a.example/plants/v1 ', 'https://a.example/plants/v1'],
])('the base URL "%s" is as good as %s', (given, baseUrl) => {
  expect(Service.of([given], 'token', '').baseUrl).toBe(baseUrl);
});

test.each<[string, string[]]>([
  ['smoke', []],
  ['load', ['--duration', '1', '--rate', '10']],
])('npm run %s ends quietly where nobody reads on, with the exit status of SIGPIPE', async (command, args) => {
  const child = spawn(process.execPath, [`operate/${command}.ts`, service, ...args], {
    cwd: projectRoot,
    env: environment({}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(stderr.replaceAll(/^\d+ s: .*\n/gm, '')).toBe('');
  expect(code).toBe(141);
});

test('a load tells how it went, and that each 200 is stored', async () => {
  const { code, stdout, stderr } = await run('load', [
    service,
    '--duration',
    '2',
    '--connections',
    '4',
    '--rate',
    '100',
    '--local',
  ]);
  expect(stderr).toMatch(/^1 s: \d+ created/m);
  const [, created] = /^(\d+) plants created/.exec(stdout) ?? [];
  expect(Number(created)).toBeGreaterThan(0);
  expect(stdout).toMatch(/^Latency, ms: p50 \d+, p90 \d+, p99 \d+, p99\.9 \d+, longest \d+\.$/m);
  expect(stdout).toContain(`Of the ${created} created, ${created} are stored exactly; 0 are not.`);
  expect(code).toBe(0);
});

test('a load notices a 200 that stored nothing, and counts errors by their number', async () => {
  let requests = 0;
  const url = await broken((_, { body: sent }) => {
    requests += 1;
    if (requests % 2 === 0) return { status: 400, body: '{"error":503,"message":"x"}' };
    return sent.includes('load') ? { status: 200, body: '{"name":"load 8999999999999999999"}' } : {};
  });
  const { code, stdout } = await run('load', [url, '--duration', '1', '--connections', '1', '--rate', '50', '--local']);
  expect(stdout).toMatch(/^error 503: \d+$/m);
  expect(stdout).toMatch(/are stored exactly; [1-9]\d* are not, such as 8999999999999999999/);
  expect(code).toBe(1);
});

test('a load shows one answer of each kind that is outside the contract', async () => {
  let requests = 0;
  const page = { 'Content-Type': 'text/html' };
  const wrong: Partial<Exchanged>[] = [
    { status: 502, headers: page, body: `<html>\n<h1>Bad \u001b[31mgateway</h1>${'x'.repeat(500)}` },
    { status: 403, headers: JSON_TYPE, body: '{"message":"Forbidden"}' },
    { status: 200, headers: {}, body: '{"name":"load 1"}' },
    { status: 200, headers: JSON_TYPE, body: '{"name":"another"}' },
  ];
  const url = await broken((_, { body: sent }) => {
    requests += 1;
    return sent.includes('load') ? (wrong[requests % wrong.length] ?? {}) : {};
  });
  const { code, stdout } = await run('load', [url, '--duration', '1', '--connections', '1', '--rate', '50']);
  expect(stdout).toMatch(
    /^an answer outside the contract, status 502, text\/html: \d+, such as 502, text\/html, <html> <h1>Bad \[31mgateway<\/h1>x{100,200}; the Content-Type must be application\/json$/m,
  );
  expect(stdout).toMatch(
    /^an answer outside the contract, status 403, application\/json: \d+, such as 403, application\/json, \{"message":"Forbidden"\}; it must be 200 with/m,
  );
  expect(stdout).toMatch(
    /^an answer outside the contract, status 200, no Content-Type: \d+, such as 200, no Content-Type, \{/m,
  );
  expect(stdout).toMatch(/^a 200 with another plant: \d+, such as \{"name":"another"\}$/m);
  expect(code).toBe(1);
});
