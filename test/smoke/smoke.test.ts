import { rmSync, writeFileSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { newToken, tokenItem, UNKNOWN_TOKEN } from '../../functions/tokens/token.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { type Input, startDynamoDbProxy } from '../support/dynamodb-proxy.ts';
import { type FakeResponse, forward, type ReceivedRequest, startFakeService } from '../support/fake-service.ts';
import { startIssuer } from '../support/issuer.ts';
import { listen } from '../support/listen.ts';
import { copyProject } from '../support/project-copy.ts';
import { startServiceWithEngine } from '../support/service.ts';

/* Runs the smoke test on the service, on local runs with a broken database, and on other servers. */

const { url: serviceUrl, engine } = await startServiceWithEngine();
const plants = () => engine.items(engine.plantsTable);
beforeEach(() => engine.clear(engine.plantsTable));

const project = closedAtEnd(copyProject());
/** A copy for the smoke test, which needs no packages. */
const copy = copyProject();
rmSync(join(copy.directory, 'node_modules'));
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;

/** Runs the smoke test, by default with the development token. Returns its output and the titles of failed tests. */
async function smoke(url: string, variables: Record<string, string> = {}) {
  const defaults = { PATH, PLANT_STORE_URL: url, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN, PLANT_STORE_WAIT: '0' };
  const { code, stdout, stderr } = await copy.run('npm run --silent smoke', { ...defaults, ...variables });
  const failed = [...new Set(Array.from(stdout.matchAll(/^✖ (.+) \([\d.]+ms\)$/gm), ([, title]) => title))];
  return { code, stdout, stderr, failed };
}

/** Starts a local run for the duration of the test. Returns its URL. */
async function startLocalRun(endpoint = engine.endpoint): Promise<string> {
  const run = await project.start('npm start', { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
  onTestFinished(async () => {
    run.interrupt();
    await run.exit;
  });
  return new URL(run.url).origin;
}

type Respond = (sent: ReceivedRequest) => FakeResponse | undefined;

/** Starts a server with these responses, and those of the service to all other requests. */
function startInFront(respond: Respond): Promise<string> {
  return startFakeService((sent) => respond(sent) ?? forward(serviceUrl, sent));
}

const errorResponse = (error: unknown, message = 'x') => {
  return { status: 400, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error, message }) };
};

test('passes on the running local run, whose URL and token it knows; a second run stores nothing more', async () => {
  await startLocalRun();
  const counts: number[] = [];
  for (const _ of [1, 2]) {
    const { code, stdout } = await project.run('npm run --silent smoke', { PATH });
    expect(code, stdout).toBe(0);
    counts.push((await plants()).length);
  }
  expect(counts).toEqual([3, 3]);
});

test('its plants have the name "smoke test", and with another token other ids beyond 2^62', async () => {
  const { token } = newToken('', 0, 0);
  await engine.putToken(token, 'other', 2 ** 32);
  for (const PLANT_STORE_TOKEN of [DEVELOPMENT_TOKEN, token]) {
    const { code, stdout } = await smoke(serviceUrl, { PLANT_STORE_TOKEN });
    expect(code, stdout).toBe(0);
  }
  const items = await plants();
  expect(items).toHaveLength(6);
  for (const { id, name } of items) {
    expect(id?.N).toMatch(/^-?92\d{17}$/);
    expect(name?.S).toBe('smoke test');
  }
});

test.each<[string, (input: Input) => Input, string[]]>([
  [
    'loses a tag',
    ({ Item: { tag: _, ...Item } = {}, ...input }) => ({ ...input, Item }),
    ['creates the same plant again', 'rejects the same plant without its tag'],
  ],
  [
    'rounds an id',
    ({ Item: { id, ...item } = {}, ...input }) => {
      return { ...input, Item: { ...item, ...(id && { id: { N: String(Number(id.N)) } }) } };
    },
    ['creates the same plant again', 'keeps apart two ids beyond 2^53 that differ by one'],
  ],
  [
    'drops the condition',
    ({ ConditionExpression: _, ...input }) => input,
    ['rejects another name', 'rejects the same plant without its tag'],
  ],
])('fails on a local run whose database %s', async (_, change, titles) => {
  const endpoint = await startDynamoDbProxy(engine, (action, input, send) => {
    return send(action === 'PutItem' ? change(input) : input);
  });
  expect(await smoke(await startLocalRun(endpoint))).toMatchObject({ code: 1, failed: titles });
});

test('fails if the service accepts an unknown token', async () => {
  const item = tokenItem(UNKNOWN_TOKEN, 'x', 0, 2 ** 32);
  const endpoint = await startDynamoDbProxy(engine, async (_, input, send) => {
    const response = await send(input);
    if (input.Key?.['digest']?.S !== item.digest.S) return response;
    return {
      ...response,
      body: JSON.stringify({ Item: item, ConsumedCapacity: { TableName: engine.accessTokensTable } }),
    };
  });
  const failed = ['rejects an unknown token'];
  expect(await smoke(await startLocalRun(endpoint))).toMatchObject({ code: 1, failed });
});

test('fails over HTTPS if the service accepts the development token', async () => {
  const issuer = await startIssuer();
  onTestFinished(issuer.close);
  issuer.respondWith((sent, response) => {
    const { method, headers } = sent;
    const forwarded = sendRequest(serviceUrl + sent.url, { method, headers }, (received) => {
      response.writeHead(Number(received.statusCode), received.headers);
      received.pipe(response);
    });
    sent.pipe(forwarded);
  });
  const certificate = join(copy.directory, 'certificate.pem');
  writeFileSync(certificate, issuer.certificate);
  const result = await smoke(issuer.url, { NODE_EXTRA_CA_CERTS: certificate });
  expect(result).toMatchObject({ code: 1, failed: ['rejects the development token'] });
});

test.each([
  [[429, 503, 504], 0],
  [[429, 429, 429, 429], 1],
])('repeats a request after the errors %j, and then exits with status %i', async (errors, code) => {
  const left = [...errors];
  const url = await startInFront(({ headers }) => {
    const error = headers.authorization && left.shift();
    return error ? errorResponse(error) : undefined;
  });
  expect(await smoke(url)).toMatchObject({ code, failed: code === 0 ? [] : ['creates a plant'] });
});

test('waits for a new domain, and does not send the token before it responds as the service', async () => {
  const tokens: (string | undefined)[] = [];
  const url = await startInFront(({ headers }) => {
    tokens.push(headers.authorization);
    // API Gateway's response to a request to a domain without a mapping.
    const forbidden = { status: 403, headers: { 'content-type': 'application/json' }, body: '{"message":"Forbidden"}' };
    return tokens.length < 3 ? forbidden : undefined;
  });
  const stderr = 'The response has the status 403, and is not one of the contract.\n';
  expect(await smoke(url)).toMatchObject({ code: 1, stderr });
  expect(await smoke(url, { PLANT_STORE_WAIT: '60' })).toMatchObject({ code: 0 });
  expect(tokens.slice(0, 4)).toEqual([undefined, undefined, undefined, `Bearer ${DEVELOPMENT_TOKEN}`]);
});

test('does not read a response of more than 1 MB to its end', async () => {
  const url = await startFakeService(() => errorResponse(401, 'x'.repeat(2_000_000)));
  const stderr = 'The response has the status 400, and is not one of the contract.\n';
  expect(await smoke(url)).toMatchObject({ code: 1, stderr });
});

const response = (status: number, body: string, headers = '') =>
  `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}\r\n${body}`;
test.each<[string, (token: string) => string]>([
  ['as an error number', (token) => response(400, JSON.stringify({ error: token, message: 'x' }))],
  ['in a message', (token) => response(400, JSON.stringify({ error: 400, message: token }))],
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
  const { code, stdout, stderr, failed } = await smoke(`http://${await listen(server)}`);
  expect({ code, first: failed[0] }).toEqual({ code: 1, first: 'creates a plant' });
  expect(stdout + stderr).not.toMatch(/plantstore_|Bearer/);
});

const URL_MESSAGE = 'PLANT_STORE_URL must be an http or https URL without a user name or a password.\n';
const NO_URL_MESSAGE =
  'PLANT_STORE_TOKEN is set, but PLANT_STORE_URL is not. Set both, or none of them for the local run.\n';
const TOKEN_MESSAGE =
  /^PLANT_STORE_TOKEN must be an access token: "plantstore_" and 43 letters or digits, or a JWT\.\n$/;
test.each<[string, (url: string) => Record<string, string>, string | RegExp]>([
  ['a URL with a user name', (url) => ({ PLANT_STORE_URL: url.replace('//', '//name@') }), URL_MESSAGE],
  ['a URL with a password', (url) => ({ PLANT_STORE_URL: url.replace('//', `//:${DEVELOPMENT_TOKEN}@`) }), URL_MESSAGE],
  ['a host name', () => ({ PLANT_STORE_URL: 'plants.example.com' }), URL_MESSAGE],
  ['another scheme', (url) => ({ PLANT_STORE_URL: url.replace('http', 'ftp') }), URL_MESSAGE],
  ['no token for a URL', () => ({ PLANT_STORE_TOKEN: '' }), TOKEN_MESSAGE],
  ['a token of another form', () => ({ PLANT_STORE_TOKEN: `${DEVELOPMENT_TOKEN}\n` }), TOKEN_MESSAGE],
  ['a token without a URL', (url) => ({ PLANT_STORE_URL: '', PORT: new URL(url).port }), NO_URL_MESSAGE],
  ['a wait that is no number', () => ({ PLANT_STORE_WAIT: '1m' }), 'PLANT_STORE_WAIT must be a number of seconds, '],
])('rejects %s before it sends a request', async (_, variables, message) => {
  const paths: string[] = [];
  const url = await startFakeService(({ path }) => {
    paths.push(path);
    return errorResponse(401);
  });
  const { code, stdout, stderr } = await smoke(url, variables(url));
  expect({ code, stdout, paths }).toEqual({ code: 1, stdout: '', paths: [] });
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain(DEVELOPMENT_TOKEN);
});

test('says to start npm start first, if nothing listens', async () => {
  const { code, stdout, stderr } = await smoke('', { PLANT_STORE_TOKEN: '', PORT: '65535' });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    'There is no response from 127.0.0.1:65535 (ECONNREFUSED). Start npm start first, or set PLANT_STORE_URL and PLANT_STORE_TOKEN.\n',
  );
});

test('all other commands say to run npm ci if the packages are missing', async () => {
  const { code, stderr } = await copy.run('npm run --silent plants', { PATH });
  const message = 'The packages are missing. Run npm ci, without --ignore-scripts.\n';
  expect({ code, stderr }).toEqual({ code: 1, stderr: message });
});

test('says which Node.js it needs on an older one', async () => {
  const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'22.21.0'}})`;
  const { code, stdout, stderr } = await smoke(serviceUrl, { NODE_OPTIONS: `--import ${older}` });
  const message = 'Node.js 24 is needed; this is 22.21.0. Run npm ci, without --ignore-scripts.\n';
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: message });
});
