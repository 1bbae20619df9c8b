import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { newToken, UNKNOWN_TOKEN } from '../../functions/tokens/token.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import {
  type FakeResponse,
  forward,
  type ReceivedRequest,
  type Respond,
  startFakeService,
} from '../support/fake-service.ts';
import { startIssuer } from '../support/issuer.ts';
import { listenOnFreePort } from '../support/listen-on-free-port.ts';
import { copyProject } from '../support/project-copy.ts';
import { startServiceWithEngine } from '../support/service.ts';

/* Runs the smoke test on the local run, on the service, and on services that are wrong on purpose. */

const { url: serviceUrl, engine } = await startServiceWithEngine();
const { token: validToken } = newToken('', 0, 0);
// As on AWS, the development token is unknown.
beforeEach(async () => {
  for (const table of [engine.plantsTable, engine.accessTokensTable]) await engine.clear(table);
  await engine.putToken(validToken, 'smoke', 2 ** 32);
});

/** A copy for the smoke test, which needs no packages. */
const copy = copyProject();
rmSync(join(copy.directory, 'node_modules'));
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;

/** The value of NODE_OPTIONS that runs this code first. */
const runFirst = (code: string) => `--import data:text/javascript,${encodeURIComponent(code)}`;
const WITHOUT_TIMERS = runFirst(`import timers from 'node:timers/promises';
  timers.setTimeout = async (milliseconds) => console.log('Waits %d ms', milliseconds);
  AbortSignal.timeout = () => new AbortController().signal;
  (await import('node:module')).syncBuiltinESMExports();`);

/** Runs the smoke test. It prints how long it would wait, and has no time limit, which a busy machine could reach. */
async function smoke(url: string, variables: Record<string, string> = {}, argument: string[] = []) {
  const ours = { PATH, NODE_OPTIONS: WITHOUT_TIMERS, PLANT_STORE_URL: url, PLANT_STORE_TOKEN: validToken };
  const env = { ...ours, PLANT_STORE_WAIT: '0', ...variables };
  return resultOf(await copy.run(['npm', 'run', '--silent', 'smoke', '--', ...argument], env));
}

/** Returns the output, and from it the titles of the checks, those of the failed ones and their reasons, and the waits. */
function resultOf({ code, stdout, stderr }: Awaited<ReturnType<typeof copy.run>>) {
  const find = (pattern: RegExp) => Array.from(stdout.matchAll(pattern), ([, found]) => found);
  // The failed checks are there twice, the second time with indented lines below.
  const checks = find(/^[✔✖] (.+) \([\d.]+ms\)$(?!\n )/gm);
  const failed = find(/^✖ (.+) \([\d.]+ms\)\n /gm);
  expect(code, `the exit status after ${stdout}${stderr}`).toBe(failed.length > 0 || stderr ? 1 : 0);
  const [reasons, waits] = [find(/^ +\w*Error.*?: (.+)$/gm), find(/^Waits (\d+) ms$/gm).map(Number)];
  return { stdout, stderr, checks, failed, reasons, waits };
}

function json(status: number, body: object): FakeResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
const errorResponse = (error: number) => json(400, { error, message: `\n${'x '.repeat(100)}` });

test('passes on the running local run, whose URL and token it knows', async () => {
  const project = copyProject();
  onTestFinished(project.close);
  await project.start('npm start', { AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint });
  const { checks, failed } = resultOf(await project.run('npm run --silent smoke', { PATH }));
  expect(failed).toEqual([]);
  expect(checks).toHaveLength(13);
});

test('stores three plants with ids beyond 2^62 for each token, and for each content of the block', async () => {
  const { token: other } = newToken('', 0, 0);
  await engine.putToken(other, 'other', 2 ** 32);
  for (const PLANT_STORE_TOKEN of [validToken, validToken, other]) {
    expect((await smoke(serviceUrl, { PLANT_STORE_TOKEN })).failed).toEqual([]);
  }
  const file = join(copy.directory, 'test/smoke/smoke.ts');
  writeFileSync(`${file}.ts`, readFileSync(file, 'utf8').replace('const OTHER = {', "const OTHER = { x: '',"));
  await copy.run(['node', `${file}.ts`], { PLANT_STORE_URL: serviceUrl, PLANT_STORE_TOKEN: validToken });
  const plant = { id: { N: expect.stringMatching(/^-?92\d{17}$/) } };
  expect(await engine.items(engine.plantsTable)).toMatchObject(Array.from({ length: 9 }, () => plant));
});

/** Returns the response to send instead of the right one, or undefined. The first request is sent before check 0. */
type RespondWrongly = (sent: ReceivedRequest, right: FakeResponse, check: number) => ReturnType<Respond>;
const has = (token: string, { headers }: ReceivedRequest) => headers.authorization === `Bearer ${token}`;
const PLANT = json(200, { name: 'x' });

const changed = ({ status, body }: FakeResponse) =>
  json(status, { ...JSON.parse(body), [status === 200 ? 'id' : 'error']: 418 });

/** The response of the service if it read ids as doubles. */
const doubles: RespondWrongly = async (sent, { status }) => {
  const text = sent.bytes.toString('latin1').replace(/\d{19}/, (id) => String(BigInt(Number(id))));
  const response = await forward(serviceUrl, { ...sent, bytes: Buffer.from(text, 'latin1') });
  return response.status === status ? undefined : response;
};

test.each<[string, RespondWrongly]>([
  ['changes the responses to even checks', (_, right, check) => (check % 2 === 0 ? changed(right) : undefined)],
  ['changes the responses to odd checks', (_, right, check) => (check % 2 === 1 ? changed(right) : undefined)],
  ['accepts everything', (_, { status }) => (status === 400 ? PLANT : undefined)],
  ['accepts any token after check 0', (sent, _, check) => (check > 0 && has(UNKNOWN_TOKEN, sent) ? PLANT : undefined)],
  ['accepts the development token', (sent) => (has(DEVELOPMENT_TOKEN, sent) ? PLANT : undefined)],
  ['rounds ids', doubles],
  ['ignores a missing tag', ({ body }) => (/^{(?!.*"tag").*}$/.test(body) ? PLANT : undefined)],
])('only the checks with a wrong response fail on a service that %s', async (_, respond) => {
  const wrong: number[] = [];
  let check = -1;
  const server = await startIssuer();
  onTestFinished(server.close);
  server.respondWith(async (request, response) => {
    const { method = '', url = '', headers: received } = request;
    const bytes = await buffer(request);
    const sent = { method, path: url, headers: received, bytes, body: bytes.toString() };
    const right = await forward(serviceUrl, sent);
    const other = await respond(sent, right, check);
    if (other && check >= 0) wrong.push(check);
    check += 1;
    const { status, headers, body } = other ?? right;
    response.writeHead(status, headers).end(body);
  });
  const NODE_EXTRA_CA_CERTS = join(copy.directory, 'certificate.pem');
  writeFileSync(NODE_EXTRA_CA_CERTS, server.certificate);
  const { checks, failed } = await smoke(server.url, { NODE_EXTRA_CA_CERTS });
  expect(wrong.length, 'the number of wrong responses').toBeGreaterThan(0);
  expect(failed).toEqual(checks.filter((_, index) => wrong.includes(index)));
});

test('says once that the service rejects the token', async () => {
  const { stderr } = await smoke(serviceUrl, { PLANT_STORE_TOKEN: UNKNOWN_TOKEN });
  expect(stderr).toMatch(/^127\.0\.0\.1:\d+ rejects the access token: [^\n]+\n$/);
});

/** API Gateway's response to a request to a domain without a mapping. */
const FORBIDDEN = json(403, { message: 'Forbidden' });
const REASON = `The service responded with error 429 and the message "\\n${'x '.repeat(99)}x"; expected the plant.`;
test.each<[string, FakeResponse[], number[], string[]]>([
  ['the errors 429, 500 and 503', [429, 500, 503].map(errorResponse), [2000, 2000, 2000], []],
  ['the error 504 and the status 502', [errorResponse(504), json(502, {})], [2000, 2000], []],
  ['the error 429 at most three times', Array(8).fill(errorResponse(429)), Array(6).fill(2000), [REASON]],
  ['responses of a new domain', [FORBIDDEN, FORBIDDEN], [5000, 5000], []],
])('repeats a request after %s', async (_, responses, ...expected) => {
  const url = await startFakeService(async (sent) => responses.shift() ?? forward(serviceUrl, sent));
  const { stderr, waits, reasons } = await smoke(url, { PLANT_STORE_WAIT: '60' });
  expect([stderr, waits, reasons]).toEqual(['', ...expected]);
});

test('limits each request to 8 s, in which a cold start can respond', async () => {
  const NODE_OPTIONS = runFirst('AbortSignal.timeout = (limit) => AbortSignal.abort({ name: limit })');
  expect((await smoke(serviceUrl, { NODE_OPTIONS })).stderr).toMatch(/ \(8000\)\.\n$/);
});

test.each<[string, Respond, number]>([
  ['is not one of the contract', () => FORBIDDEN, 403],
  ['is a redirect', () => ({ status: 307, headers: { location: `${serviceUrl}/plants` }, body: '' }), 307],
  ['is an error without a message', () => json(400, { error: 401 }), 400],
  ['has the media type text/plain', () => ({ ...errorResponse(401), headers: { 'content-type': 'text/plain' } }), 400],
  ['has more than 1 MB', () => json(400, { error: 401, message: 'x'.repeat(2_000_000) }), 400],
])('sends no token to a service whose response %s', async (_, respond, status) => {
  const tokens: unknown[] = [];
  const url = await startFakeService((sent) => {
    tokens.push(sent.headers.authorization);
    return respond(sent);
  });
  const { stderr } = await smoke(url);
  expect(tokens).toEqual([undefined]);
  expect(stderr).toBe(`The response has the status ${status}, and is not one of the contract.\n`);
});

const response = (status: number, body: string, headers = '') =>
  `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}\r\n${body}`;
const failure = (error: unknown, message: string) => response(400, JSON.stringify({ error, message }));
test.each<[string, (token: string) => string]>([
  ['as an error number', (token) => failure(token, 'x')],
  ['in a message', (token) => failure(400, token)],
  ['at the cut of a message', (token) => failure(400, 'x '.repeat(90) + token)],
  ['escaped in a message', (token) => failure(400, token.replace('p', '\\u0070'))],
  ['in a plant', (token) => response(200, JSON.stringify({ name: token }))],
  ['as text', (token) => response(200, token)],
  ['in the address of a redirect', (token) => response(302, '', `location: http://127.0.0.1/${token}\r\n`)],
  ['in a malformed header', (token) => response(200, '', `a b: ${token}\r\n`)],
])('prints no token that a service returns %s', async (_, respond) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const token = /Bearer (.*)\r/.exec(String(data))?.[1];
      socket.end(token === undefined ? failure(401, 'x') : respond(token));
    });
  });
  onTestFinished(() => void server.close());
  const { stdout, stderr, failed } = await smoke(`http://${await listenOnFreePort(server)}`);
  expect(failed).not.toEqual([]);
  expect(stdout + stderr).not.toMatch(/lantstore_|Bearer/);
});

const URL_RULE = 'PLANT_STORE_URL must be an https URL, or http to 127.0.0.1, localhost or [::1], without a name ';
test.each<[string, string, Record<string, string>, string[]?]>([
  ['a URL with a user name', URL_RULE, { PLANT_STORE_URL: 'http://name@127.0.0.1:1' }],
  ['a URL with a password', URL_RULE, { PLANT_STORE_URL: `http://:${DEVELOPMENT_TOKEN}@127.0.0.1:1` }],
  ['a host name', URL_RULE, { PLANT_STORE_URL: 'plants.example.com' }],
  ['another scheme', URL_RULE, { PLANT_STORE_URL: 'ftp://127.0.0.1:1' }],
  ['http to another host', URL_RULE, { PLANT_STORE_URL: 'http://0.0.0.0:1' }],
  ['http to a host that begins with 127.0.0.1', URL_RULE, { PLANT_STORE_URL: 'http://127.0.0.1.example' }],
  ['no token for a URL', 'PLANT_STORE_TOKEN must be an ', { PLANT_STORE_TOKEN: '' }],
  ['a token of another form', 'PLANT_STORE_TOKEN must be an ', { PLANT_STORE_TOKEN: `${DEVELOPMENT_TOKEN}\n` }],
  ['a token without a URL', 'PLANT_STORE_TOKEN is set, but PLANT_STORE_URL is not. ', { PLANT_STORE_URL: '' }],
  ['a wait that is no number', 'PLANT_STORE_WAIT must be a number of seconds, ', { PLANT_STORE_WAIT: '1m' }],
  ['an argument, which can be a token,', 'The smoke test has no arguments.\n\nUsage: ', {}, [DEVELOPMENT_TOKEN]],
])('rejects %s before it sends a request', async (_, message, variables, argument) => {
  // Nothing listens on port 1, so after a request the message would be another one.
  const { stdout, stderr } = await smoke('http://127.0.0.1:1', variables, argument);
  expect([stdout, stderr.slice(0, message.length)]).toEqual(['', message]);
  expect(stderr).not.toContain(DEVELOPMENT_TOKEN);
});

test('prints its usage for --help', async () => {
  expect((await smoke('', {}, ['--help'])).stdout).toMatch(/^Usage: npm run smoke\n/);
});

test.each([
  ['', '127.0.0.1', ' Start npm start first, or set PLANT_STORE_URL and PLANT_STORE_TOKEN.'],
  ['http://localhost:65535', 'localhost', ''],
  ['http://[::1]:65535', '[::1]', ''],
])('says that nothing listens at the URL "%s"', async (url, host, advice) => {
  const { stderr } = await smoke(url, { PLANT_STORE_TOKEN: url && DEVELOPMENT_TOKEN, PORT: '65535' });
  // Without IPv6, it is another error.
  const said = stderr.replace('EADDRNOTAVAIL', 'ECONNREFUSED');
  expect(said).toBe(`There is no response from ${host}:65535 (ECONNREFUSED).${advice}\n`);
});

const RUN_NPM_CI = 'Run npm ci, which installs Node.js 24. Do not use --ignore-scripts.';
test('all other commands say to run npm ci if the packages are missing', async () => {
  const stderr = `The packages are missing. ${RUN_NPM_CI}\n`;
  expect(await copy.run('npm run --silent plants', { PATH })).toMatchObject({ code: 1, stderr });
});

test('says which Node.js it needs on an older one', async () => {
  const NODE_OPTIONS = runFirst(`Object.defineProperty(process, 'versions', { value: { node: '22.21.0' } })`);
  const stderr = `Node.js 24 is needed; this is 22.21.0. ${RUN_NPM_CI}\n`;
  expect(await smoke(serviceUrl, { NODE_OPTIONS })).toMatchObject({ stdout: '', stderr });
});
