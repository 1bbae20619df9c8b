import { expect, test, vi } from 'vitest';
import { runCommand } from '../test/support/command.ts';
import { type ReceivedRequest, type Respond, startFakeService } from '../test/support/fake-service.ts';
import { startServiceWithEngine } from '../test/support/service.ts';
import type { Item } from './table.ts';

const service = await startServiceWithEngine();

const JSON_TYPE = { 'content-type': 'application/json' };
const ok = (name: string) => ({ status: 200, headers: JSON_TYPE, body: JSON.stringify({ name }) });
const error = (number: number) => ({ status: 400, headers: JSON_TYPE, body: `{"error":${number},"message":"x"}` });
const nameOf = ({ body }: ReceivedRequest): string => JSON.parse(body).name;
const idOf = (sent: ReceivedRequest): string => nameOf(sent).replace('load ', '');
const lost = (sent: ReceivedRequest) => ok(nameOf(sent));
/** Stores the plant, with these members instead of its own, in the table of the local run. */
const storedWith = (members: Item) => async (sent: ReceivedRequest) => {
  const { put, plantsTable } = service.engine;
  await put(plantsTable, { id: { N: idOf(sent) }, name: { S: nameOf(sent) }, ...members });
  return ok(nameOf(sent));
};
const created = storedWith({});

/** Runs a load test over one connection. Each request gets the next response; the last one interrupts the load test. */
async function loadWith(responses: Respond[], ...args: string[]) {
  const sent: ReceivedRequest[] = [];
  const url = await startFakeService((request) => {
    // The check of the access.
    if (request.body === '{}') return error(400);
    sent.push(request);
    if (sent.length >= responses.length) process.emit('SIGINT');
    return (responses[sent.length - 1] ?? created)(request);
  });
  const { code, stdout, stderr } = await runCommand('load', [url, '--connections', '1', ...args]);
  return { sent, code, lines: stdout.trimEnd().split('\n'), stderr };
}

test('prints progress, rate and latency, and that each created plant is stored', async () => {
  const args = [service.url, '--duration=2', '--connections=1'];
  const { code, stdout, stderr } = await runCommand('load', args);
  expect(stderr).toMatch(/^\d+ plants created in [\d.]+ s, \d+ per second, 0 failed\n/);
  const [, plants] = /^(\d+) plants created in [\d.]+ s, \d+ per second, 0 failed\.\n/.exec(stdout) ?? [];
  expect(Number(plants)).toBeGreaterThan(2);
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^Latency in ms: p50 [1-9]\d*, p90 \d+, p99 \d+, p99\.9 \d+, longest \d+\.$/),
    `Of the ${plants} plants created, ${plants} are stored exactly, 0 are not.`,
    '',
  ]);
  expect(code).toBe(0);
});

test('counts failures by reason', async () => {
  const { lines } = await loadWith([
    created,
    () => error(429),
    () => error(503),
    () => error(429),
    () => ok('another'),
    () => ({ status: 403, headers: JSON_TYPE, body: '{"message":"Forbidden"}' }),
    () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad\ngateway</h1>' }),
  ]);
  expect(lines[0]).toMatch(/^1 plants created in .*, 6 failed\.$/);
  expect(lines.slice(2, -1)).toEqual([
    'error 429: 2',
    'error 503: 1',
    'a 200 with a wrong plant, {"name":"another"}: 1',
    expect.stringMatching(/^403, application\/json, \{"message":"Forbidden"\}; .*: 1$/),
    expect.stringMatching(/^502, text\/html, <h1>Bad gateway<\/h1>; .*: 1$/),
  ]);
});

test.each([
  [0, 'a plant is created', [created]],
  [0, 'only some are throttled', [created, () => error(429)]],
  [1, 'all are throttled', [() => error(429)]],
  [1, 'one fails', [created, () => error(503)]],
])('exits with status %i if %s', async (status, _, responses) => {
  expect((await loadWith(responses)).code).toBe(status);
});

test('counts a request without a response as a failure', async () => {
  const { code, lines } = await loadWith([() => undefined]);
  expect(lines).toContainEqual(expect.stringMatching(/^no response, .+: 1$/));
  expect(code).toBe(1);
});

test('prints the ids of five created plants that are not stored exactly', async () => {
  const responses = [created, storedWith({ name: { S: 'x' } }), storedWith({ tag: { S: '' } }), ...Array(4).fill(lost)];
  const { sent, code, lines } = await loadWith(responses);
  const examples = sent.slice(1, 6).map(idOf).join(', ');
  expect(lines.at(-1)).toBe(`Of the 7 plants created, 1 are stored exactly, 6 are not, such as ${examples}.`);
  expect(code).toBe(1);
});

test('uses each id once, and other ids in each run', async () => {
  const runs = [await loadWith(Array(20).fill(created)), await loadWith(Array(20).fill(created))];
  const ids = runs.map(({ sent }) =>
    sent.map(({ body }) => BigInt(/^\{"id":(\d+),"name":"load \1"\}$/.exec(body)?.[1] ?? 0)),
  );
  for (const [first = 0n, ...others] of ids) {
    expect(first).toBeGreaterThanOrEqual(8_000_000_000_000_000_000n);
    expect(others.at(-1)).toBeLessThan(8_999_999_999_999_999_999n);
    expect(others).toEqual(others.map((_, index) => first + BigInt(index) + 1n));
  }
  expect(ids[0]?.[0]).not.toBe(ids[1]?.[0]);
});

test('sends ten requests at the same time by default', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let requests = 0;
  const url = await startFakeService(async (sent) => {
    if (sent.body === '{}') return error(400);
    requests += 1;
    if (requests === 10) {
      resolve();
      process.emit('SIGINT');
    }
    await promise;
    return created(sent);
  });
  expect((await runCommand('load', [url])).stdout).toMatch(/^10 plants created/);
});

test('creates no plant if the token is not valid', async () => {
  const { code, stdout, stderr } = await runCommand('load', [service.url, '--token', 'wrong']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The token is not valid at .+\.\n$/);
});

test('does not look for the plants if BASE_URL is not 127.0.0.1 or localhost', async () => {
  const url = await startFakeService((sent) => {
    if (sent.body === '{}') return error(400);
    process.emit('SIGINT');
    return lost(sent);
  });
  const { code, stdout } = await runCommand('load', [url.replace('127.0.0.1', '0.0.0.0'), '--connections', '1']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('stored') });
});

test('looks for the plants in the table of the stack with --stack', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', 'http://127.0.0.1:9');
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  expect((await loadWith([created], '--stack', 'plants')).stderr).toContain('The stack plants cannot be read: ');
});

test.each([
  [[], 'BASE_URL is missing.'],
  [['http://a.example', '--duration', '9s'], '--duration was "9s"; it must be a number from 1 to 999999.'],
  [['http://a.example', '--connections', '0'], '--connections was "0"; it must be a number from 1 to 999999.'],
])('rejects the arguments %j', async (args, problem) => {
  const { code, stdout, stderr } = await runCommand('load', args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.startsWith(`${problem}\n\nUsage: npm run load -- BASE_URL`)).toBe(true);
});
