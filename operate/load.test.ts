import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { type OwnService, startOwnService } from '../test/support/own-service.ts';
import { type Answered, startChanged, startStandIn } from '../test/support/stand-in-service.ts';
import { runToolHere } from '../test/support/tool.ts';

// A second of load takes 10 ms.
vi.mock('autocannon', async (original) => {
  const { default: autocannon } = await original<{ default: typeof import('autocannon') }>();
  type Shortened = (options: import('autocannon').Options, callback: () => void) => unknown;
  const shortened: Shortened = (options, callback) =>
    autocannon({ ...options, duration: Number(options.duration) / 100 }, callback);
  return { default: shortened };
});
// The assembly that all tests share: to synthesize another one takes seconds.
vi.mock(import('../local/dynamodb.ts'), async (original) => ({
  ...(await original()),
  SERVICE_ASSEMBLY: inject('assembly'),
}));

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService();
  return service.close;
});

const JSON_TYPE = { 'content-type': 'application/json' };

const error = (number: number) => ({ status: 400, headers: JSON_TYPE, body: `{"error":${number},"message":"x"}` });
const created = (id: string) => ({ status: 200, headers: JSON_TYPE, body: `{"name":"load ${id}"}` });
const outside = { status: 403, headers: JSON_TYPE, body: '{"message":"Forbidden"}' };
const LOST = Array.from({ length: 7 }, (_, index) => `899999999999999999${index}`);

/**
 * A service that answers a load so, in turn. It interrupts the load when it has seen all of that, and waits for
 * further answers on every connection.
 */
async function answering(answers: Answered[], connections = 1, onRequest = () => {}) {
  const held = { requests: 0 };
  const url = await startStandIn(({ body }) => {
    if (!body.includes('load')) return error(400);
    onRequest();
    const answer = answers.shift();
    if (answer) return answer;
    held.requests += 1;
    if (held.requests === connections) process.emit('SIGINT');
    return new Promise(() => {});
  });
  return { url, held };
}

test('a load tells how it went, and that each 200 is stored', async () => {
  let requests = 0;
  const url = await startChanged(service.url, () => {
    requests += 1;
    if (requests === 5) process.emit('SIGINT');
    return {};
  });
  const args = ['--duration', '999999', '--connections', '1', '--local'];
  const { code, stdout, stderr } = await runToolHere('load', [url, ...args]);
  expect(stderr).toMatch(/^\d s: [1-9]\d* created, [1-9]\d* a second, 0 refused$/m);
  const [, plants = ''] = /^([1-9]\d*) plants created in [\d.]+ s, [1-9]\d* a second\.\n/.exec(stdout) ?? [];
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^Latency, ms: p50 \d+, p90 \d+, p99 \d+, p99\.9 \d+, longest \d+\.$/),
    'Without an answer: 0 (0 of them timed out).',
    `Of the ${plants} created, ${plants} are stored exactly; 0 are not.`,
    '',
  ]);
  expect(code).toBe(0);
});

test('a load takes ten seconds, and looks into no table, where it is not told otherwise', async () => {
  const { url } = await answering([created('1')], Number.POSITIVE_INFINITY);
  const { stdout } = await runToolHere('load', [url]);
  const [, seconds] = /^\d+ plants created in ([\d.]+) s/.exec(stdout) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(0.1);
  expect(stdout).not.toContain('stored');
});

test('a load has ten connections where it is not told otherwise', async () => {
  const { url, held } = await answering([], 10);
  await runToolHere('load', [url, '--duration', '999999']);
  expect(held.requests).toBe(10);
});

test('a load sends no more than it is told in a second', async () => {
  const { url } = await answering(Array.from({ length: 1000 }, (_, id) => created(String(id))));
  const { stdout } = await runToolHere('load', [url, '--duration', '10', '--connections', '1', '--rate', '1']);
  const [, plants, seconds] = /^(\d+) plants created in ([\d.]+) s/.exec(stdout) ?? [];
  expect(Number(plants)).toBeLessThanOrEqual(1 + Number(seconds));
});

test.each<[string, Answered[], string[], string[], number]>([
  ['some are throttled', [created('1'), error(429)], [], ['error 429: 1'], 0],
  ['all are throttled', [error(429), error(429)], [], ['error 429: 2'], 1],
  ['one fails', [created('1'), error(503)], [], ['error 503: 1'], 1],
  [
    'an answer is outside the contract',
    [error(503), outside, error(429), outside],
    [],
    [
      expect.stringMatching(/^an answer outside .+, status 403, .+: 2, such as 403, .+, \{"message":"Forbidden"\}; it/),
      'error 429: 1',
      'error 503: 1',
    ],
    1,
  ],
  [
    'a 200 stored nothing',
    LOST.slice(0, 2).map(created),
    ['--local'],
    [expect.stringMatching(`^Of the 2 created, 0 are stored exactly; 2 are not, such as ${LOST[0]}, ${LOST[1]}.$`)],
    1,
  ],
  [
    'much is not stored',
    LOST.map(created),
    ['--local'],
    [expect.stringMatching(`7 are not, such as ${LOST.slice(0, 5).join(', ')}.$`)],
    1,
  ],
])('where %s, a load tells so', async (_, answers, options, told, status) => {
  const args = ['--duration', '999999', '--connections', '1', ...options];
  const { code, stdout } = await runToolHere('load', [(await answering(answers)).url, ...args]);
  const [, , ...lines] = stdout.split('\n');
  expect(lines.filter((line) => line !== '' && !line.startsWith('Without'))).toEqual(told);
  expect(code).toBe(status);
});

test('a load that is not always answered does not pass', async () => {
  let requests = 0;
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const answer = body.includes('load') ? created('1') : error(400);
    if (body.includes('load')) requests += 1;
    if (requests === 1) request.socket.resetAndDestroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
    if (requests === 3) process.emit('SIGINT');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stdout } = await runToolHere('load', [url, '--duration', '999999', '--connections', '1']);
  expect(stdout).toMatch(/^1 plants created/);
  expect(stdout).toMatch(/^Without an answer: 1 \(0 of them timed out\)\.$/m);
  expect(code).toBe(1);
});

test('a load is not begun with a token that is not valid', async () => {
  const { code, stdout, stderr } = await runToolHere('load', [service.url, '--token', 'wrong']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The token is not valid at .+\.\n$/);
});

test('progress tells the seconds, the plants, and how many a second', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(7_000_000);
  onTestFinished(() => now.mockRestore());
  const answers = Array.from({ length: 8 }, (_, id) => created(String(id)));
  const { url } = await answering([...answers, error(429)], 1, () => now.mockReturnValue(7_004_000));
  const { stderr } = await runToolHere('load', [url, '--duration', '999999', '--connections', '1']);
  expect(stderr).toMatch(/(^|\n)4 s: 8 created, 2 a second, 1 refused\n$/);
});

test('a load looks into the table of the stack that it is told', async () => {
  const { url } = await answering([created('1')]);
  const nowhere = { AWS_ENDPOINT_URL_CLOUDFORMATION: 'http://127.0.0.1:9', AWS_MAX_ATTEMPTS: '1' };
  const { code, stderr } = await runToolHere('load', [url, '--connections', '1', '--stack', 'plants'], nowhere);
  expect(stderr).toContain('The stack plants cannot be read: ');
  expect(code).toBe(1);
});

test('a load has to be told where', async () => {
  expect((await runToolHere('load', [])).stderr).toMatch(/^BASE_URL is missing\.\n\nUsage: npm run load -- BASE_URL/);
});

test.each([
  ['--duration', '9s'],
  ['--connections', '0'],
  ['--rate', '0'],
  ['--rate', '1000000'],
])('%s %s is refused', async (option, value) => {
  const { code, stdout, stderr } = await runToolHere('load', ['http://a.example', option, value]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    new RegExp(`^${option} was "${value}"; it must be a number from 1 to 999999\\.\n\nUsage: npm run load -- BASE_URL`),
  );
});
