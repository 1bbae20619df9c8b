import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newToken, UNKNOWN_TOKEN } from '../../functions/tokens/token.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { plantWith } from '../support/event.ts';
import { type FakeResponse, forward, type ReceivedRequest, receive } from '../support/fake-service.ts';
import { newKey, signed, startIssuer } from '../support/issuer.ts';
import { copyProject } from '../support/project-copy.ts';
import { startServiceWithEngine } from '../support/service.ts';

/* Runs the smoke test on the service, and on services that are wrong on purpose. */

const issuer = closedAtEnd(await startIssuer());
const key = newKey();
issuer.publish(key);
Object.assign(process.env, { TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants' });
const jwt = signed(key, { iss: issuer.url, aud: 'plants', sub: 'smoke', exp: 2 ** 33 }, { typ: 'at+jwt' });
const { url: serviceUrl, engine } = await startServiceWithEngine();
const { token: validToken } = newToken('', 0, 0);
// As on AWS, the development token is unknown.
await engine.clear(engine.accessTokensTable);
await engine.putToken(validToken, 'smoke', 2 ** 32);

/** A copy for the smoke test, which needs no packages. */
const copy = copyProject();
rmSync(join(copy.directory, 'node_modules'), { recursive: true });
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
const NODE_EXTRA_CA_CERTS = join(copy.directory, 'certificate.pem');
writeFileSync(NODE_EXTRA_CA_CERTS, issuer.certificate);

/** The value of NODE_OPTIONS that runs this code first, and prints the report in TAP. */
const runFirst = (code: string) => `--test-reporter=tap --import data:text/javascript,${encodeURIComponent(code)}`;
// A wait prints its time, and only sets the clock. No time limit ends, because a busy machine could reach it.
const WITHOUT_TIMERS = runFirst(`import timers from 'node:timers/promises';
  let now = Date.now();
  Date.now = () => now;
  timers.setTimeout = async (milliseconds) => {
    now += milliseconds;
    console.log('Waits %d ms', milliseconds);
  };
  AbortSignal.timeout = () => new AbortController().signal;
  (await import('node:module')).syncBuiltinESMExports();`);

/** Runs the smoke test. Returns its output, and from it the failed checks, why they failed, and the waits. */
async function smoke(url: string, variables: Record<string, string> = {}, ...args: string[]) {
  const ours = { PATH, NODE_EXTRA_CA_CERTS, NODE_OPTIONS: WITHOUT_TIMERS };
  const service = { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: validToken };
  const command = ['npm', 'run', '--silent', 'smoke', '--', ...args];
  const { code, stdout, stderr } = await copy.run(command, { ...ours, ...service, ...variables });
  const find = (pattern: RegExp) => Array.from(stdout.matchAll(pattern), ([, found]) => found);
  const failed = find(/^not ok \d+ - (.+)$/gm);
  expect(code, `the exit status after ${stdout}${stderr}`).toBe(failed.length > 0 || stderr ? 1 : 0);
  return { stdout, stderr, failed, reasons: find(/^ +(The service .+)$/gm), waits: find(/^Waits (\d+) ms$/gm) };
}

test('stores three plants, whose ids follow from the token, the seed and the plants, with a token or a JWT', async () => {
  await engine.clear(engine.plantsTable);
  for (const variables of [{}, {}, { PLANT_STORE_SEED: '1' }, { PLANT_STORE_TOKEN: jwt }]) {
    expect((await smoke(serviceUrl, variables)).failed).toEqual([]);
  }
  const file = join(copy.directory, 'tools/smoke.ts');
  writeFileSync(`${file}.ts`, readFileSync(file, 'utf8').replace('const PLANT = {', "const PLANT = { x: '',"));
  await copy.run(['node', `${file}.ts`], { PLANT_STORE_URL: serviceUrl, PLANT_STORE_TOKEN: validToken });
  const ids = (await engine.items(engine.plantsTable)).map(({ id }) => id?.N);
  expect(ids).toEqual(Array(12).fill(expect.stringMatching(/^-?92\d{17}$/)));
});

const JSON_TYPE = { 'content-type': 'application/json' };
const json = (status: number, members: object) => ({ status, headers: JSON_TYPE, body: JSON.stringify(members) });
const errorResponse = (error: number) => json(400, { error, message: `\n\u009b\u202e${'x '.repeat(100)}` });

/** Returns the response of a wrong service. Its first request is number 0, and that of the first check number 1. */
type Respond = (sent: ReceivedRequest, number: number) => FakeResponse | Promise<FakeResponse>;

/** Starts a wrong service until the test ends. It has https, because on AWS the development token is checked too. */
async function startWrongService(respond: Respond): Promise<string> {
  const { url, respondWith, requests, close } = await startIssuer();
  onTestFinished(close);
  respondWith(async (request, response) => {
    const number = requests.length - 1;
    const { status, headers, body } = await respond(await receive(request), number);
    response.writeHead(status, headers).end(body);
  });
  return url;
}
/** The correct response. */
const right = (sent: ReceivedRequest) => forward(serviceUrl, sent);

const A_PLANT = json(200, plantWith('x'));
/** Responds with a plant in place of these errors. */
const accepts =
  (isAccepted: (sent: ReceivedRequest, error: number, number: number) => boolean): Respond =>
  async (sent, number) => {
    const response = await right(sent);
    return isAccepted(sent, JSON.parse(response.body).error, number) ? A_PLANT : response;
  };
const acceptsToken = (token: string) => accepts(({ headers }) => headers.authorization === `Bearer ${token}`);

/** The response to the request with another id. */
const withId = (change: (id: string) => unknown) => (sent: ReceivedRequest) => {
  const text = sent.bytes.toString('latin1').replace(/(?<="id":)-?\d+/, (id) => String(change(id)));
  return right({ ...sent, bytes: Buffer.from(text, 'latin1') });
};

// The block at the top of smoke.ts can leave these out.
const [WITHOUT_OPTIONAL, TOO_LARGE] = ['rejects the plant without its optional member', 'rejects more than 399 KB'];
const readsBodyFirst: Respond = (sent) => (sent.body === '{' ? errorResponse(400) : right(sent));
test.each<[string, Respond]>([
  ['creates a plant', (sent, number) => (number === 1 ? A_PLANT : right(sent))],
  ['creates the same plant again', (sent, number) => (number === 2 ? errorResponse(409) : right(sent))],
  ['rejects another plant with its id', accepts((_, error, number) => error === 409 && number === 3)],
  [WITHOUT_OPTIONAL, accepts((_, error, number) => error === 409 && number === 4)],
  ['keeps apart two ids beyond 2^53 that differ by one', withId((id) => BigInt(Number(id)))],
  ['keeps apart an id and its negative', withId((id) => id.replace('-', ''))],
  ['rejects a request without a token, before it reads the body', readsBodyFirst],
  ['rejects an unknown token', acceptsToken(UNKNOWN_TOKEN)],
  ['rejects the development token', acceptsToken(DEVELOPMENT_TOKEN)],
  ['rejects an id above int64', withId((id) => BigInt.asIntN(64, BigInt(id)))],
  ['rejects a body that is not UTF-8', accepts(({ body }) => body.includes('\ufffd'))],
  [TOO_LARGE, accepts(({ bytes }, error) => error === 413 && bytes.length < 2_500_000)],
  ['returns error 404 for an unknown path', accepts(({ path }) => path === '/none')],
  ['returns error 404 for an unknown method', accepts(({ method }) => method === 'PATCH')],
])('only the check "%s" fails on a service that gets this wrong', async (check, respond) => {
  const { failed, stdout } = await smoke(await startWrongService(respond));
  const isLeftOut = [WITHOUT_OPTIONAL, TOO_LARGE].includes(check) && !stdout.includes(check);
  expect(failed).toEqual(isLeftOut ? [] : [check]);
});

test.each<[string, (text: string) => string]>([
  ['removes spaces at both ends', (text) => text.trim()],
  ['replaces U+2028', (text) => text.replace('\u2028', '\n')],
  ['replaces characters beyond U+FFFF', (text) => text.replace(/[^\0-\uffff]/u, '\ufffd')],
  ['composes characters', (text) => text.normalize('NFC')],
])('fails on a service that %s in a text', async (_, change) => {
  const url = await startWrongService(async (sent) => {
    const { body, ...response } = await right(sent);
    const changed = (_: string, value: unknown) => (typeof value === 'string' ? change(value) : value);
    return { ...response, body: JSON.stringify(JSON.parse(body, changed)) };
  });
  expect((await smoke(url)).failed).toContain('creates a plant');
});

/** API Gateway's response to a request to a domain without a mapping. */
const FORBIDDEN = json(403, { message: 'Forbidden' });
const REASON = `The service responded with error 429 and the message "\\n\\u009b\\u202e${'x '.repeat(98)}x"; expected the plant.`;
test.each<[string, FakeResponse[], string[], string[]]>([
  ['the errors 429, 500 and 503', [429, 500, 503].map(errorResponse), Array(3).fill('2000'), []],
  ['the error 504 and the status 502', [errorResponse(504), json(502, {})], ['2000', '2000'], []],
  ['the error 429 at most three times', Array(8).fill(errorResponse(429)), Array(6).fill('2000'), [REASON]],
  ['responses of a new domain', [FORBIDDEN, FORBIDDEN], ['5000', '5000'], []],
])('repeats a request after %s', async (_, responses, waits, reasons) => {
  const url = await startWrongService((sent) => responses.shift() ?? right(sent));
  expect(await smoke(url, { PLANT_STORE_WAIT: '1800' })).toMatchObject({ stderr: '', waits, reasons });
});

test.each<[string, FakeResponse]>([
  ['has the status 403', { ...errorResponse(401), status: 403 }],
  ['is a redirect', { status: 307, headers: { location: `${serviceUrl}/plants` }, body: '' }],
  ['is an error with another member', json(400, { error: 401, message: 'x', status: 401 })],
  ['is not an object', { ...json(400, {}), body: 'null' }],
  ['has the media type text/plain', { ...errorResponse(401), headers: { 'content-type': 'text/plain' } }],
])('sends no token to a service whose response %s', async (_, response) => {
  const tokens: unknown[] = [];
  const url = await startWrongService(({ headers }) => {
    tokens.push(headers.authorization);
    return response;
  });
  const message = `The response has the status ${response.status}, and is not one of the contract.\n`;
  expect([(await smoke(url)).stderr, tokens]).toEqual([message, [undefined]]);
});

test.each<[string, FakeResponse]>([
  ['as an error number', json(400, { error: validToken, message: 'x' })],
  ['at the cut of a message', json(400, { error: 400, message: 'x '.repeat(90) + validToken })],
  ['in a plant', json(200, plantWith(validToken))],
  ['as text', { ...json(200, {}), body: validToken }],
])('prints no token that a service returns %s', async (_, response) => {
  const url = await startWrongService(({ headers }) => (headers.authorization ? response : errorResponse(401)));
  const { stdout, stderr, failed } = await smoke(url);
  expect(failed).not.toEqual([]);
  expect(stdout + stderr).not.toMatch(/lantstore_|Bearer/);
});

const URL_RULE = 'PLANT_STORE_URL must be an https URL, or http to 127.0.0.1, localhost or [::1], without a name ';
const LOCAL_RUN = { PLANT_STORE_URL: '', PLANT_STORE_TOKEN: '', PORT: '65535' };
test.each<[Record<string, string>, string, ...string[]]>([
  [{ PLANT_STORE_URL: `http://${DEVELOPMENT_TOKEN}@127.0.0.1` }, URL_RULE],
  [{ PLANT_STORE_URL: 'http://127.0.0.1.example' }, URL_RULE],
  [{ PLANT_STORE_URL: '' }, 'PLANT_STORE_TOKEN is set, but PLANT_STORE_URL is not. '],
  [{ PLANT_STORE_TOKEN: `${DEVELOPMENT_TOKEN}\n` }, 'PLANT_STORE_TOKEN must be an access token: '],
  [{ PLANT_STORE_WAIT: '1m' }, 'PLANT_STORE_WAIT must be a number of seconds, '],
  [{}, 'The smoke test has no arguments.\n\nUsage: ', DEVELOPMENT_TOKEN],
  [{}, 'There is no response from localhost:65535 (ECONNREFUSED).\n'],
  [LOCAL_RUN, 'There is no response from 127.0.0.1:65535 (ECONNREFUSED). Start npm start first, '],
])('sends nothing with %j, and says: %s', async (variables, message, ...args) => {
  // Nothing listens on port 65535.
  const { stderr } = await smoke('http://localhost:65535', variables, ...args);
  expect(stderr.slice(0, message.length)).toBe(message);
  expect(stderr).not.toContain(DEVELOPMENT_TOKEN);
});

test('limits each request to 8 s', async () => {
  const limit = runFirst("AbortSignal.timeout = (ms) => AbortSignal.abort(console.log('Limit %d ms', ms))");
  expect((await smoke(serviceUrl, { NODE_OPTIONS: limit })).stdout).toBe('Limit 8000 ms\n');
});

test.each([
  ['smoke', 'Node.js 24 is needed; this is 22.'],
  ['start', 'The packages are missing.'],
])('npm run %s says what is missing on an older Node.js and without packages', async (script, reason) => {
  const NODE_OPTIONS = runFirst("Object.defineProperty(process, 'versions', { value: { node: '22' } })");
  const stderr = `${reason} Run npm ci, which installs Node.js 24. Do not use --ignore-scripts.\n`;
  expect(await copy.run(`npm run --silent ${script}`, { PATH, NODE_OPTIONS })).toMatchObject({ code: 1, stderr });
});
