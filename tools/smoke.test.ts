import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newToken, UNKNOWN_TOKEN } from '../functions/shared/access-tokens/token.ts';
import { runCommand } from '../test/support/command.ts';
import { type FakeResponse, type ReceivedRequest, startFakeService } from '../test/support/fake-service.ts';
import { untaggedPlantWith } from '../test/support/plant.ts';
import { startServiceWithEngine } from '../test/support/service.ts';

vi.mock('node:timers/promises', { spy: true });
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.mocked(sleep)
    .mockReset()
    .mockImplementation(async (ms) => void vi.setSystemTime(Date.now() + Number(ms)));
  return () => vi.useRealTimers();
});
afterEach(() => void vi.restoreAllMocks());

const { url: serviceUrl, engine } = await startServiceWithEngine();
afterEach(() => engine.clear(engine.plantsTable));

type Respond = (sent: ReceivedRequest, response: () => Promise<FakeResponse>) => FakeResponse | Promise<FakeResponse>;

/** Starts a service whose responses a test can change. `response` returns that of the correct service. */
const startChanged = (respond: Respond) =>
  startFakeService((sent) =>
    respond(sent, async () => {
      const { host: _, connection: __, 'content-length': ___, ...headers } = sent.headers;
      const body = sent.bytes.length > 0 ? new Uint8Array(sent.bytes) : null;
      const response = await fetch(serviceUrl + sent.path, { method: sent.method, headers: headers as object, body });
      const text = await response.text();
      const { 'content-length': ____, ...received } = Object.fromEntries(response.headers);
      return { status: response.status, headers: received, body: text };
    }),
  );

/** Runs the smoke test on the local run at this URL. */
const smokeLocally = (url = serviceUrl, args: string[] = []) => runCommand('smoke', args, { PORT: new URL(url).port });

/** Returns what a run has left in the tables. */
async function leftovers() {
  const tokens = await engine.items(engine.accessTokensTable);
  const names = tokens.map(({ name }) => name?.S).filter((name) => name !== 'development');
  return { plants: await engine.items(engine.plantsTable), tokens: names };
}
const NOTHING = { plants: [], tokens: [] };

test('all requests pass on the local run, with a token of its own, and nothing is left', async () => {
  const { code, stdout, stderr } = await runCommand('smoke', [], { PORT: new URL(serviceUrl).port });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Plants: (-?\d{16,19}(, |\. )){8}Token: smoke-.+\n\n(ok {4}.+\n){30,}\n\d+ passed, 0 failed; /,
  );
  expect(stdout).not.toContain('plantstore_');
  expect(await leftovers()).toEqual(NOTHING);
});

test('with --stack, finds the URL and the tables, ignores PLANT_STORE_TOKEN, and rejects the public token', async () => {
  const outputs = {
    ApiUrl: serviceUrl,
    PlantsTableName: engine.plantsTable,
    AccessTokensTableName: engine.accessTokensTable,
  };
  const members = Object.entries(outputs).map(([name, value]) => {
    return `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`;
  });
  // "DescribeStacks", AWS CloudFormation API Reference.
  const body = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const cloudFormation = await startFakeService(() => ({ status: 200, headers: {}, body }));
  const variables = { AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation, PLANT_STORE_TOKEN: UNKNOWN_TOKEN };
  const { code, stdout } = await runCommand('smoke', ['--stack', 'PlantStore'], variables);
  expect(code).toBe(1);
  expect(stdout.match(/^FAIL.*/gm)).toEqual([
    'FAIL  rejects the public token: the response was a 400 with error 415; it must be a 400 with error 401',
  ]);
  expect(await leftovers()).toEqual(NOTHING);
});

test('with a URL, needs only a token; its plants stay, are the same in each run, and are named after a 409', async () => {
  const stored: unknown[] = [];
  for (const _ of [1, 2]) {
    expect(await runCommand('smoke', [serviceUrl])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(' 0 failed'),
    });
    stored.push((await leftovers()).plants.length);
  }
  expect(stored).toEqual([8, 8]);
  const [first] = (await leftovers()).plants;
  await engine.put(engine.plantsTable, { ...first, name: { S: 'other' } });
  const { code, stdout } = await runCommand('smoke', [`${serviceUrl}/`]);
  expect(code).toBe(1);
  expect(stdout).toMatch(new RegExp(`^If an earlier .* delete them: .*${first?.['id']?.N}`, 'm'));
});

test.each<[string, object, string, object]>([
  ['has another attribute', { extra: { BOOL: true } }, 'is {"extra":true,', NOTHING],
  [
    'has another name',
    { name: { S: 'other' } },
    'FAIL  deletes the plants: other members are stored under ',
    { tokens: [] },
  ],
])('a plant that %s in the table than in the response is found', async (_, change, message, left) => {
  const url = await startChanged(async (_, response) => {
    const correct = await response();
    // With the change first, because the message has only the start of a plant.
    const stored = (await engine.items(engine.plantsTable)).find(({ name }) => name?.S === 'check 4');
    if (stored) await engine.put(engine.plantsTable, { ...change, ...stored, ...change });
    return correct;
  });
  const { code, stdout } = await smokeLocally(url);
  expect(code).toBe(1);
  expect(stdout).toContain('FAIL  has stored exactly the plants of its responses: ');
  expect(stdout).toContain(message);
  expect(await leftovers()).toMatchObject(left);
});

const isCreation = ({ body }: ReceivedRequest) => body.includes('"name":"check 2"');
const isWithoutToken = ({ headers }: ReceivedRequest) => headers['authorization'] === undefined;
const MUST_BE = `it must be a 200 with exactly ${JSON.stringify(untaggedPlantWith({ name: 'check 2' })).slice(0, 100)}`;
const CREATES = 'keeps apart two ids beyond 2^53 that differ by one';
const REJECTS = 'createPlant rejects a request without a token';
test.each<
  [string, (sent: ReceivedRequest) => boolean, (correct: FakeResponse) => Partial<FakeResponse>, string, string]
>([
  ['status', isCreation, () => ({ status: 201 }), CREATES, `a 201; ${MUST_BE}`],
  ['plant', isCreation, () => ({ body: '{"name":"check"}' }), CREATES, `a 200; ${MUST_BE}`],
  [
    'Content-Type',
    isCreation,
    ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/html' } }),
    CREATES,
    'a 200 with another Content-Type',
  ],
  [
    'error',
    isWithoutToken,
    ({ body }) => ({ body: String(body).replace('401', '404') }),
    REJECTS,
    'a 400 with error 404; it must be a 400 with error 401',
  ],
  [
    'member',
    isWithoutToken,
    () => ({ body: '{"error":401,"message":"x","id":1}' }),
    REJECTS,
    'a 400 with error 401; it must',
  ],
  ['body', isWithoutToken, () => ({ body: 'null' }), REJECTS, 'a 400; it must be a 400 with error 401'],
  [
    'challenge',
    isWithoutToken,
    ({ headers }) => ({ headers: { ...headers, 'x-amzn-remapped-www-authenticate': 'Basic' } }),
    REJECTS,
    'WWW-Authenticate must match',
  ],
  [
    'request id',
    ({ headers }) => 'x-amzn-requestid' in headers,
    ({ headers }) => ({ headers: { ...headers, 'x-amz-apigw-id': '00000000-0000-4000-8000-000000000000' } }),
    'does not let the client choose the request id',
    'x-amz-apigw-id must be',
  ],
])('names the request whose response has another %s', async (_, isChanged, change, title, problem) => {
  const url = await startChanged(async (sent, response) => {
    const correct = await response();
    return isChanged(sent) ? { ...correct, ...change(correct) } : correct;
  });
  const { code, stdout } = await smokeLocally(url);
  expect(code).toBe(1);
  const failed = stdout.split('\n').find((line) => line.startsWith('FAIL'));
  expect(failed?.startsWith(`FAIL  ${title}: the response was `)).toBe(true);
  expect(failed).toContain(problem);
  expect(await leftovers()).toEqual(NOTHING);
});

test('prints the start of a response, with escaped control characters and without anything like a token', async () => {
  const { token } = newToken('of-another', 0, 0);
  const bodyOf = ({ headers, body }: ReceivedRequest) =>
    body.includes('"check 2"') ? String(headers['authorization']) : `\u001b[2J Bearer ${token} ${'x'.repeat(300)}`;
  const url = await startChanged(async (sent, response) =>
    /"check [23]"/.test(sent.body) ? { ...(await response()), body: bodyOf(sent) } : response(),
  );
  const { stdout } = await smokeLocally(url);
  expect(stdout).toContain(`FAIL  ${CREATES}: the response contains the token\n`);
  expect(stdout).toMatch(/\n {6}\\u001b\[2J …\n/);
  for (const unwanted of ['plantstore_', '\u001b']) expect(stdout).not.toContain(unwanted);
});

test.each([429, 503, 504])('repeats a request up to three times after error %i', async (error) => {
  for (const [failures, code] of [
    [3, 0],
    [4, 1],
  ]) {
    let left = Number(failures);
    const url = await startChanged(async (sent, response) => {
      if (!isCreation(sent) || left === 0) return response();
      left -= 1;
      return { status: 400, headers: { 'content-type': 'application/json' }, body: `{"error":${error},"message":"x"}` };
    });
    expect((await smokeLocally(url)).code).toBe(code);
  }
});

test.each<[string, (url: string) => FakeResponse, string]>([
  ['another service responds', () => ({ status: 502, headers: {}, body: 'x' }), 'the response was a 502 with another'],
  [
    'nothing responds',
    (url) => {
      throw new Error(url);
    },
    'there was no response (',
  ],
])('sends one request, and deletes its tokens, if %s', async (_, respond, message) => {
  const url = await startFakeService(({ path }) => {
    try {
      return respond(path);
    } catch {
      return undefined;
    }
  });
  const { code, stdout } = await smokeLocally(url);
  expect(stdout).toContain(`\n\nFAIL  creates a plant: ${message}`);
  expect({ code, left: await leftovers() }).toEqual({ code: 1, left: NOTHING });
  expect(stdout).toMatch(/\n0 passed, 1 failed; /);
});

test.each([
  ['until it has access', 2, 2, 0],
  ['until the time is up', 99, 12, 1],
])('with --wait 60, repeats the first request every 5 s, %s', async (_, failures, waits, code) => {
  let left = failures;
  const url = await startChanged(async (_, response) => {
    left -= 1;
    return left < 0 ? response() : { status: 403, headers: {}, body: '' };
  });
  expect((await smokeLocally(url, ['--wait', '60'])).code).toBe(code);
  expect(vi.mocked(sleep).mock.calls).toEqual(Array(waits).fill([5000]));
});

test.each(['SIGINT', 'SIGTERM'])('deletes what it has written after %s', async (signal) => {
  const url = await startChanged(async (sent, response) => {
    if (isCreation(sent)) process.emit(signal as NodeJS.Signals);
    return response();
  });
  const { code, stderr } = await smokeLocally(url);
  expect({ code, stderr, left: await leftovers() }).toEqual({ code: 1, stderr: 'Interrupted.\n', left: NOTHING });
});

test.each([
  [['plants.example.com'], {}, 'BASE_URL was "plants.example.com"; it must be an http or https URL.'],
  [['http://a.example', '--wait', 'long'], {}, '--wait was "long"; it must be a number from 0 to 1800.'],
  [['http://a.example', '--stack', 'a'], {}, '--stack and BASE_URL exclude each other.'],
  [['http://a.example'], { PLANT_STORE_TOKEN: '' }, 'PLANT_STORE_TOKEN is missing; it must be an access token.'],
])('rejects the arguments %j', async (args, variables, message) => {
  const { code, stdout, stderr } = await runCommand('smoke', args, variables);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.startsWith(`${message}\n\nUsage:\n  npm run smoke -- `)).toBe(true);
});
