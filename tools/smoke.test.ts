import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { proxyEvent, proxyResponse } from '../functions/pre-traffic-hook/proxy-event.ts';
import { brokenVersions, startVersions, stubResponseLimit } from '../test/support/broken-versions.ts';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { runCommand } from '../test/support/command.ts';
import { type FakeResponse, startFakeService } from '../test/support/fake-service.ts';
import { startServiceWithEngine } from '../test/support/service.ts';
import { DEVELOPMENT_TOKEN } from './local/development-token.ts';

vi.mock('node:timers/promises', { spy: true });
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.mocked(sleep)
    .mockReset()
    .mockImplementation(async (ms) => void vi.setSystemTime(Date.now() + Number(ms)));
  return () => vi.useRealTimers();
});
afterEach(() => void vi.restoreAllMocks());

const service = await startServiceWithEngine();
const { engine, invoke } = await startVersions();
closedAtEnd(engine);

const response = (error: number, headers = {}): FakeResponse => ({
  status: 400,
  headers: { 'content-type': 'application/json', ...headers },
  body: `{"error":${error},"message":"x"}`,
});
const errorResponse = (error: number) => response(error, { 'x-amz-apigw-id': 'an-id' });

test('all checks pass on the local run, also if the smoke test is repeated', async () => {
  for (const _ of [1, 2]) {
    const { code, stdout, stderr } = await runCommand('smoke', [service.url]);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^(ok {4}\w+: .+\n){30,}\n\d+ checks passed, 0 failed; \d+\.\d s\.\n$/);
    expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
  }
});

test('without arguments, tests the local run with the development token', async () => {
  const { port } = new URL(service.url);
  expect(await runCommand('smoke', [], { PORT: port, PLANT_STORE_TOKEN: 'of-a-deployment' })).toMatchObject({
    code: 0,
  });
});

// Only the pre-traffic hook has an expired token.
const visible = brokenVersions.filter(([, check]) => !check.includes('expired'));

test.each(visible)('a version that %s fails the check “%s” over HTTP', async (failure, check, version) => {
  // The first request only asks for access.
  stubResponseLimit(failure, 1);
  await engine.clear(engine.plantsTable);
  const url = await startFakeService(async ({ method, path, headers, bytes }) => {
    if (method !== 'POST' || path !== '/plants') return errorResponse(404);
    const request = { resource: path, method, path, query: '', headers: Object.entries(headers) as [string, string][] };
    const event = proxyEvent({ ...request, body: bytes });
    // The first request, which only asks for access, is not a check.
    const tested = bytes.toString() === '{}' ? {} : version;
    const result = await invoke(event, DEVELOPMENT_TOKEN, tested).then(proxyResponse, () => undefined);
    return result ? { status: result.status, headers: result.headers, body: result.text } : errorResponse(500);
  });
  const { code, stdout } = await runCommand('smoke', [url]);
  expect(code).toBe(1);
  expect(/^FAIL {2}createPlant: (.+?): /m.exec(stdout)?.[1]).toBe(check);
});

test.each<[string, FakeResponse | undefined, string]>([
  [
    'the token is rejected',
    errorResponse(401),
    'URL does not accept the token: the response was a 400 with error 401;',
  ],
  [
    'another service responds',
    { status: 502, headers: {}, body: 'x' },
    'the response was a 502 with another Content-Type',
  ],
  ['nothing responds', undefined, 'URL does not accept the token: there was no response (Error: '],
])('sends no checks if %s', async (_, fake, message) => {
  const url = fake ? await startFakeService(() => fake) : 'http://127.0.0.1:9';
  const { code, stdout, stderr } = await runCommand('smoke', [url]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message.replace('URL', url));
});

const forbidden = { status: 403, headers: {}, body: '' };
test.each<[string, FakeResponse[], number]>([
  ['until it has access', [forbidden, errorResponse(404), errorResponse(400)], 2],
  ['until the time is up', [errorResponse(404)], 12],
])('with --wait 60, asks for access every 5 s, %s', async (_, responses, waits) => {
  const last = responses.at(-1) ?? forbidden;
  const url = await startFakeService(() => responses.shift() ?? last);
  await runCommand('smoke', [url, '--wait', '60']);
  expect(vi.mocked(sleep).mock.calls).toEqual(Array(waits).fill([5000]));
});

test.each([
  [['plants.example.com'], {}, 'BASE_URL was "plants.example.com"; it must be an http or https URL.'],
  [['http://a.example', '--wait', 'long'], {}, '--wait was "long"; it must be a number from 0 to 3600.'],
  [['http://a.example'], { PLANT_STORE_TOKEN: '' }, 'There is no token; set --token or the environment variable'],
])('rejects the arguments %j', async (args, variables, message) => {
  const { code, stdout, stderr } = await runCommand('smoke', args, variables);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toContain('\n\nUsage: npm run smoke [-- BASE_URL [--token TOKEN] [--wait SECONDS]]\n');
});
