import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { newToken, UNKNOWN_TOKEN } from '../../functions/tokens/token.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { type FakeResponse, forward, type Respond, startFakeService } from '../support/fake-service.ts';
import { startIssuer } from '../support/issuer.ts';
import { listenOnFreePort } from '../support/listen-on-free-port.ts';
import { copyProject } from '../support/project-copy.ts';
import { startServiceWithEngine } from '../support/service.ts';

/* Runs the smoke test on the local run, on the service, and on services that are wrong on purpose. */

const { url: serviceUrl, engine } = await startServiceWithEngine();
beforeEach(() => engine.clear(engine.plantsTable));

/** A copy for the smoke test, which needs no packages. */
const copy = copyProject();
rmSync(join(copy.directory, 'node_modules'));
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;

/** The titles of the checks that are made over http, in their order. */
const source = readFileSync(join(copy.directory, 'test/smoke/smoke.ts'), 'utf8');
const CHECKS = Array.from(source.matchAll(/^test\('(.+?)'/gm), ([, title = '']) => title);

/** Runs the smoke test, by default with the development token. Returns its output and the titles of failed checks. */
async function smoke(url: string, variables: Record<string, string> = {}, argument: string[] = []) {
  const env = { PATH, PLANT_STORE_URL: url, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN, PLANT_STORE_WAIT: '0', ...variables };
  const { code, stdout, stderr } = await copy.run(['npm', 'run', '--silent', 'smoke', '--', ...argument], env);
  const failed = [...new Set(Array.from(stdout.matchAll(/^✖ (.+) \([\d.]+ms\)$/gm), ([, title]) => title))];
  expect(code, `the exit status after ${stdout}${stderr}`).toBe(failed.length > 0 || stderr ? 1 : 0);
  return { stdout, stderr, failed };
}

/** Starts a server with these responses, and those of the service to all other requests. */
function startInFront(respond: Respond): Promise<string> {
  return startFakeService(async (sent) => (await respond(sent)) ?? forward(serviceUrl, sent));
}

function json(status: number, body: object): FakeResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
const errorResponse = (error: number) => json(400, { error, message: 'x' });

test('passes on the running local run, whose URL and token it knows', async () => {
  const project = copyProject();
  onTestFinished(project.close);
  await project.start('npm start', { AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint });
  const { code, stdout } = await project.run('npm run --silent smoke', { PATH });
  expect(stdout).toContain('pass 13\n');
  expect(code).toBe(0);
});

test('stores three plants with the name "smoke test" for each token, with ids beyond 2^62', async () => {
  const { token } = newToken('', 0, 0);
  await engine.putToken(token, 'other', 2 ** 32);
  for (const PLANT_STORE_TOKEN of [DEVELOPMENT_TOKEN, DEVELOPMENT_TOKEN, token]) {
    expect((await smoke(serviceUrl, { PLANT_STORE_TOKEN })).failed).toEqual([]);
  }
  const plant = { id: { N: expect.stringMatching(/^-?92\d{17}$/) }, name: { S: 'smoke test' } };
  expect(await engine.items(engine.plantsTable)).toMatchObject(Array.from({ length: 6 }, () => plant));
});

test('passes with the same token after a change of what it sends', async () => {
  const changed = join(copy.directory, 'test/smoke/changed.ts');
  writeFileSync(changed, source.replace("'smoke test'", "'changed'"));
  const variables = { PLANT_STORE_URL: serviceUrl, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN };
  await smoke(serviceUrl);
  expect(await copy.run(['node', changed], variables)).toMatchObject({ code: 0 });
});

/** The service, with a cache that accepts any token after a valid one. */
function brokenCache(): Respond {
  let isValid = false;
  return ({ headers: { authorization } }) => {
    isValid ||= authorization === `Bearer ${DEVELOPMENT_TOKEN}`;
    return isValid && authorization === `Bearer ${UNKNOWN_TOKEN}` ? json(200, { name: 'x' }) : undefined;
  };
}

/** The service, if it read ids as doubles. */
const doubles: Respond = (sent) => {
  const text = sent.bytes.toString('latin1').replace(/\d{19}/, (id) => String(BigInt(Number(id))));
  return forward(serviceUrl, { ...sent, bytes: Buffer.from(text, 'latin1') });
};

test.each<[string, Respond, string[]]>([
  [
    'accepts everything',
    ({ body }) => json(200, { name: 'x', ...(body.startsWith('{"') && { ...JSON.parse(body), id: undefined }) }),
    CHECKS.filter((title) => /^rejects|error/.test(title)),
  ],
  ['accepts any token after a valid one', brokenCache(), ['rejects an unknown token']],
  ['rounds ids', doubles, ['keeps apart two ids beyond 2^53 that differ by one']],
])('fails on a service that %s', async (_, respond, failed) => {
  expect((await smoke(await startInFront(respond))).failed).toEqual(failed);
});

test.each(CHECKS)('only the check "%s" fails if its response is wrong', async (title) => {
  // The first request is sent before the checks.
  let before = CHECKS.indexOf(title) + 1;
  const url = await startFakeService(async (sent) => {
    const right = await forward(serviceUrl, sent);
    if (before-- !== 0) return right;
    return json(right.status, { ...JSON.parse(right.body), [right.status === 200 ? 'id' : 'error']: 418 });
  });
  expect((await smoke(url)).failed).toEqual([title]);
});

test('fails over HTTPS if the service accepts the development token', async () => {
  const issuer = await startIssuer();
  onTestFinished(issuer.close);
  issuer.respondWith(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const forwarded = await forward(serviceUrl, { method, path, headers, bytes: await buffer(request), body: '' });
    response.writeHead(forwarded.status, forwarded.headers).end(forwarded.body);
  });
  const certificate = join(copy.directory, 'certificate.pem');
  writeFileSync(certificate, issuer.certificate);
  const { failed } = await smoke(issuer.url, { NODE_EXTRA_CA_CERTS: certificate });
  expect(failed).toEqual(['rejects the development token']);
});

test('says once that the service rejects the token', async () => {
  const { stderr } = await smoke(serviceUrl, { PLANT_STORE_TOKEN: UNKNOWN_TOKEN });
  expect(stderr).toMatch(/^127\.0\.0\.1:\d+ rejects the access token: [^\n]+\n$/);
});

test.each<[string, FakeResponse[], string[]]>([
  ['the errors 429, 500 and 503', [429, 500, 503].map(errorResponse), []],
  ['the error 504 and the status 502', [errorResponse(504), json(502, {})], []],
  ['the error 429 four times', [429, 429, 429, 429].map(errorResponse), ['creates a plant']],
])('repeats a request after %s', async (_, responses, failed) => {
  const url = await startInFront(({ headers }) => (headers.authorization ? responses.shift() : undefined));
  expect((await smoke(url)).failed).toEqual(failed);
});

test('says which error a check gets, with the start of its message', async () => {
  const message = `"\n${'x '.repeat(200)}`;
  const url = await startInFront(({ headers }) =>
    headers.authorization ? json(400, { error: 418, message }) : undefined,
  );
  const { stdout } = await smoke(url);
  const response = `The service responded with error 418 and the message ${JSON.stringify(message.slice(0, 200))}`;
  expect(stdout).toContain(`${response}; expected the plant.\n`);
  expect(stdout).toContain(`${response}; expected error 409.\n`);
});

/** API Gateway's response to a request to a domain without a mapping. */
const FORBIDDEN = json(403, { message: 'Forbidden' });
test.each<[string, Respond, number]>([
  ['is not one of the contract', () => FORBIDDEN, 403],
  ['is a redirect', () => ({ status: 307, headers: { location: `${serviceUrl}/plants` }, body: '' }), 307],
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

test('waits for a new domain', async () => {
  const responses = [FORBIDDEN, FORBIDDEN];
  const url = await startInFront(() => responses.shift());
  expect(await smoke(url, { PLANT_STORE_WAIT: '60' })).toMatchObject({ stderr: '', failed: [] });
});

const response = (status: number, body: string, headers = '') =>
  `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}\r\n${body}`;
test.each<[string, (token: string) => string]>([
  ['as an error number', (token) => response(400, JSON.stringify({ error: token, message: 'x' }))],
  ['in a message', (token) => response(400, JSON.stringify({ error: 400, message: token }))],
  [
    'at the cut of a message',
    (token) => response(400, JSON.stringify({ error: 400, message: 'x '.repeat(90) + token })),
  ],
  [
    'escaped in a message',
    (token) => response(400, JSON.stringify({ error: 400, message: token.replace('p', '\\u0070') })),
  ],
  ['in a plant', (token) => response(200, JSON.stringify({ name: token }))],
  ['as text', (token) => response(200, token)],
  ['in the address of a redirect', (token) => response(302, '', `location: http://127.0.0.1/${token}\r\n`)],
  ['in a malformed header', (token) => response(200, '', `a b: ${token}\r\n`)],
])('prints no token that a service returns %s', async (_, respond) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const token = /Bearer (.*)\r/.exec(String(data))?.[1];
      socket.end(token === undefined ? response(400, '{"error":401,"message":"x"}') : respond(token));
    });
  });
  onTestFinished(() => void server.close());
  const { stdout, stderr, failed } = await smoke(`http://${await listenOnFreePort(server)}`);
  expect(failed[0]).toBe('creates a plant');
  expect(stdout + stderr).not.toMatch(/lantstore_|Bearer/);
});

const URL_RULE = 'PLANT_STORE_URL must be an https URL, or http to 127.0.0.1, localhost or [::1], without a name ';
const PAIR_RULE = 'PLANT_STORE_TOKEN is set, but PLANT_STORE_URL is not. Set both, or none of them for the local run.';
const TOKEN_RULE = 'PLANT_STORE_TOKEN must be an access token: "plantstore_" and 43 letters or digits, or a JWT.';
const NO_ARGUMENTS = 'The smoke test has no arguments.\n\nUsage: npm run smoke\n';
test.each<[string, string, (url: string) => Record<string, string>, string[]?]>([
  ['a URL with a user name', URL_RULE, (url) => ({ PLANT_STORE_URL: url.replace('//', '//name@') })],
  ['a URL with a password', URL_RULE, (url) => ({ PLANT_STORE_URL: url.replace('//', `//:${DEVELOPMENT_TOKEN}@`) })],
  ['a host name', URL_RULE, () => ({ PLANT_STORE_URL: 'plants.example.com' })],
  ['another scheme', URL_RULE, (url) => ({ PLANT_STORE_URL: url.replace('http', 'ftp') })],
  ['http to another host', URL_RULE, (url) => ({ PLANT_STORE_URL: url.replace('127.0.0.1', '0.0.0.0') })],
  ['http to a host that begins with 127.0.0.1', URL_RULE, () => ({ PLANT_STORE_URL: 'http://127.0.0.1.example' })],
  ['no token for a URL', TOKEN_RULE, () => ({ PLANT_STORE_TOKEN: '' })],
  ['a token of another form', TOKEN_RULE, () => ({ PLANT_STORE_TOKEN: `${DEVELOPMENT_TOKEN}\n` })],
  ['a token without a URL', PAIR_RULE, (url) => ({ PLANT_STORE_URL: '', PORT: new URL(url).port })],
  ['a wait that is no number', 'PLANT_STORE_WAIT must be a number of seconds, ', () => ({ PLANT_STORE_WAIT: '1m' })],
  ['an argument, which can be a token,', NO_ARGUMENTS, () => ({}), [DEVELOPMENT_TOKEN]],
])('rejects %s before it sends a request', async (_, message, variables, argument) => {
  const paths: string[] = [];
  const url = await startFakeService(({ path }) => {
    paths.push(path);
    return errorResponse(401);
  });
  const { stdout, stderr } = await smoke(url, variables(url), argument);
  expect(stderr.slice(0, message.length)).toBe(message);
  expect({ stdout, paths }).toEqual({ stdout: '', paths: [] });
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
  const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'22.21.0'}})`;
  const stderr = `Node.js 24 is needed; this is 22.21.0. ${RUN_NPM_CI}\n`;
  expect(await smoke(serviceUrl, { NODE_OPTIONS: `--import ${older}` })).toMatchObject({ stdout: '', stderr });
});
