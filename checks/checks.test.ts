import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { projectRoot } from '../local/synthesize.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { startService } from '../test/support/service.ts';
import { rules } from './rules.ts';
import { Service } from './service.ts';

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

/** Runs a command as its npm script does, its token in the environment. */
function run(command: 'smoke' | 'load', args: string[], variables: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const env = {
    ...process.env,
    PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    ...variables,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [`checks/${command}.ts`, ...args], { cwd: projectRoot, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** The real service with something wrong with each answer. */
async function broken(
  change: (status: number, body: string, request: string) => [number, string, string?],
): Promise<string> {
  const listener: RequestListener = async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const answer = await fetch(service + request.url, {
      method: request.method ?? 'GET',
      headers: [
        ['authorization', authorization],
        ['content-type', type],
      ].filter(([, value]) => value !== '') as [string, string][],
      ...(request.method !== 'GET' && { body: new Uint8Array(body) }),
    });
    const [status, text, contentType] = change(answer.status, await answer.text(), body.toString());
    response.writeHead(status, { 'content-type': contentType ?? 'application/json' }).end(text);
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the smoke holds on a sound service, again and several times at once', async () => {
  for (const { code, stdout } of await Promise.all([1, 2, 3].map(() => run('smoke', [service])))) {
    expect(stdout).not.toContain('FAIL');
    expect(stdout).toMatch(/\n\d+ rules hold, 0 do not; [\d.]+ s\.\n$/);
    expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
    expect(code).toBe(0);
  }
});

test.each<[string, string, Parameters<typeof broken>[0]]>([
  ['answers 201', 'a plant is a 200', (status, body) => [status === 200 ? 201 : status, body]],
  ['answers 404 as 404', 'GET /plants is error 404', (status, body) => [body.includes('404') ? 404 : status, body]],
  [
    'answers a missing path in HTML',
    'POST /plant is error 404',
    (status, body) => (body.includes('404') ? [400, '<html>no</html>', 'text/html'] : [status, body]),
  ],
  ['tells the id', 'a plant is a 200', (status, body) => [status, body.replace('{"name"', '{"id":1,"name"')]],
  [
    'tells a tag that is not there',
    'a plant without a tag, answered without one, is a 200',
    (status, body) => [status, body.replace('{"name":"smoke"}', '{"name":"smoke","tag":""}')],
  ],
  [
    'takes any plant for an id',
    'a different plant under an id in use is error 409, and changes nothing',
    (status, body, request) => (body.includes('409') ? [200, request.replace(/"id":\d+,/, '')] : [status, body]),
  ],
  [
    'names no member',
    'a missing name is error 400, its message names name',
    (status, body) => [status, body.replace(/"message":"[^"]*"/, '"message":"bad"')],
  ],
  [
    'takes a lone surrogate',
    'a lone surrogate is error 400, its message names name',
    (status, body, request) => (request.includes('ud800') ? [200, '{"name":"x"}'] : [status, body]),
  ],
  [
    'has an Error with more',
    'null is error 400',
    (status, body) => [status, body.replace('{"error"', '{"stack":"at x","error"')],
  ],
  [
    'is at fault',
    'a plant of over 400 KB is error 413',
    (status, body) => [status, body.replace('"error":413', '"error":500')],
  ],
])('the smoke fails on a service that %s', async (_, rule, change) => {
  const seen = new Service(await broken(change), DEVELOPMENT_TOKEN);
  await expect(rules.find((candidate) => candidate.rule === rule)?.check(seen)).rejects.toThrow(/; .+ must /);
});

test('the report for programs has each rule, and what was seen where one fails', async () => {
  const url = await broken((status, body) => [status, body.replace('"error":413', '"error":500')]);
  const { code, stdout } = await run('smoke', [url, '--json']);
  expect(code).toBe(1);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ baseUrl: url, failed: 2, notChecked: [429, 500, 503, 504] });
  expect(report.rules).toHaveLength(report.passed + report.failed);
  expect(report.rules).toContainEqual({
    rule: 'a body of 7 MB is error 413',
    ok: false,
    seen: expect.stringContaining('it must be {"status":400,"error":413}'),
  });
  expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
});

test.each<[string, 'smoke' | 'load', string[], NodeJS.ProcessEnv, RegExp]>([
  ['nobody listens', 'smoke', ['http://127.0.0.1:9'], {}, /^http:\/\/127\.0\.0\.1:9 does not answer: /],
  ['the token is not valid', 'smoke', ['SERVICE'], { PLANT_STORE_TOKEN: 'wrong' }, /^The token is not valid at /],
  ['the token is not valid', 'load', ['SERVICE'], { PLANT_STORE_TOKEN: 'wrong' }, /^The token is not valid at /],
  ['there is no token', 'smoke', ['SERVICE'], { PLANT_STORE_TOKEN: '' }, /^Usage: npm run smoke/],
  ['the base URL is none', 'load', ['plants.example.com'], {}, /^BASE_URL was "plants.example.com"; it must be/],
  ['an option is unknown', 'smoke', ['SERVICE', '--fast'], {}, /^Unknown option '--fast'/],
  ['an option is no number', 'load', ['SERVICE', '--duration', 'long'], {}, /^--duration was "long"; it must be/],
])('where %s, npm run %s ends with a sentence', async (_, command, args, variables, sentence) => {
  const { code, stdout, stderr } = await run(
    command,
    args.map((arg) => (arg === 'SERVICE' ? service : arg)),
    variables,
  );
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/^\s+at /m);
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
  const url = await broken((status, body, request) => {
    requests += 1;
    if (requests % 2 === 0) return [400, '{"error":503,"message":"x"}'];
    return request.includes('load') ? [200, '{"name":"load 8999999999999999999"}'] : [status, body];
  });
  const { code, stdout } = await run('load', [url, '--duration', '1', '--connections', '1', '--rate', '50', '--local']);
  expect(stdout).toMatch(/^error 503: \d+$/m);
  expect(stdout).toMatch(/are stored exactly; [1-9]\d* are not, such as 8999999999999999999/);
  expect(code).toBe(1);
});
