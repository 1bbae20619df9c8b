import { expect, test } from 'vitest';
import { checks } from '../functions/pre-traffic-hook/all-checks.ts';
import { runChecks } from '../functions/pre-traffic-hook/check.ts';
import { runCommand } from '../test/support/command.ts';
import { startFakeService } from '../test/support/fake-service.ts';
import { startServiceWithEngine } from '../test/support/service.ts';
import { HttpClient } from './http-client.ts';
import { DEVELOPMENT_TOKEN } from './local/dynamodb.ts';

const service = await startServiceWithEngine();

test('all checks pass on a correct service, even in two smoke tests at the same time', async () => {
  const client = new HttpClient(service.url, DEVELOPMENT_TOKEN);
  const [results, { code, stdout, stderr }] = await Promise.all([
    Array.fromAsync(runChecks(checks, client)),
    runCommand('smoke', [service.url]),
  ]);
  expect(results.filter(({ problem }) => problem !== undefined)).toEqual([]);
  expect(stdout).toMatch(/^(ok {4}.+\n){50,}\n\d+ checks passed, 0 failed; \d+\.\d s\.\n$/);
  expect(stdout).not.toContain(DEVELOPMENT_TOKEN);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('runs no check if the token is not valid', async () => {
  const stderr = `The token is not valid at ${service.url}.\n`;
  expect(await runCommand('smoke', [service.url, '--token', 'wrong'])).toEqual({ code: 1, stdout: '', stderr });
});

test.each([
  [[], 'BASE_URL is missing.'],
  [['http://a.example', '--wait', 'long'], '--wait was "long"; it must be a number from 0 to 3600.'],
])('rejects the arguments %j', async (args, message) => {
  const { code, stdout, stderr } = await runCommand('smoke', args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    `${message}\n\nUsage: npm run smoke -- BASE_URL [--token TOKEN] [--wait SECONDS] [--json]\n`,
  );
});

test('prints failed checks as text and as JSON', async () => {
  const url = await startFakeService(({ path }) => ({
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: `{"error":${path === '/plants' ? 400 : 404},"message":"name"}`,
  }));
  const { code, stdout } = await runCommand('smoke', [url]);
  const count = (label: string) => stdout.split('\n').filter((line) => line.startsWith(label)).length;
  const [passed, failed] = [count('ok    '), count('FAIL  ')];
  expect(stdout).toMatch(/^ok {4}null as body gets error 400$/m);
  expect(stdout).toMatch(
    /^FAIL {2}a body of more than 2.5 MB gets error 413: .+; it must be \{"status":400,"error":413\}$/m,
  );
  expect(stdout).toContain(`\n${passed} checks passed, ${failed} failed; `);
  expect(code).toBe(1);

  const before = Date.now();
  const json = await runCommand('smoke', [url, '--json']);
  const report = JSON.parse(json.stdout);
  expect(report).toMatchObject({ baseUrl: url, passed, failed });
  expect(report.checks).toHaveLength(passed + failed);
  expect(report.checks).toContainEqual({ title: expect.any(String), problem: expect.any(String) });
  expect(report.checks).toContainEqual({ title: 'null as body gets error 400' });
  expect(Date.parse(report.startedAt)).toBeGreaterThanOrEqual(before);
  expect(report.durationMs).toBeGreaterThanOrEqual(0);
  expect(report.durationMs).toBeLessThanOrEqual(Date.now() - before);
  expect(json.stdout).not.toContain(DEVELOPMENT_TOKEN);
  expect(json.code).toBe(1);
});
