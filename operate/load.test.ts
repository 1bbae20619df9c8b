import { beforeAll, expect, test } from 'vitest';
import { type OwnService, startOwnService } from '../test/support/own-service.ts';
import { type Answered, startChanged } from '../test/support/stand-in-service.ts';
import { runTool } from '../test/support/tool.ts';

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService();
  return service.close;
});

const JSON_TYPE = { 'content-type': 'application/json' };

test('a load tells how it went, and that each 200 is stored', async () => {
  const { code, stdout, stderr } = await runTool('load', [
    service.url,
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
  const url = await startChanged(service.url, (_, { body: sent }) => {
    requests += 1;
    if (requests % 2 === 0) return { status: 400, body: '{"error":503,"message":"x"}' };
    return sent.includes('load') ? { status: 200, body: '{"name":"load 8999999999999999999"}' } : {};
  });
  const { code, stdout } = await runTool('load', [
    url,
    '--duration',
    '1',
    '--connections',
    '1',
    '--rate',
    '50',
    '--local',
  ]);
  expect(stdout).toMatch(/^error 503: \d+$/m);
  expect(stdout).toMatch(/are stored exactly; [1-9]\d* are not, such as 8999999999999999999/);
  expect(code).toBe(1);
});

test('a load shows one answer of each kind that is outside the contract', async () => {
  let requests = 0;
  const page = { 'Content-Type': 'text/html' };
  const wrong: Partial<Answered>[] = [
    { status: 502, headers: page, body: `<html>\n<h1>Bad \u001b[31mgateway</h1>${'x'.repeat(500)}` },
    { status: 403, headers: JSON_TYPE, body: '{"message":"Forbidden"}' },
    { status: 200, headers: {}, body: '{"name":"load 1"}' },
    { status: 200, headers: JSON_TYPE, body: '{"name":"another"}' },
  ];
  const url = await startChanged(service.url, (_, { body: sent }) => {
    requests += 1;
    return sent.includes('load') ? (wrong[requests % wrong.length] ?? {}) : {};
  });
  const { code, stdout } = await runTool('load', [url, '--duration', '1', '--connections', '1', '--rate', '50']);
  expect(stdout).toMatch(
    /^an answer outside the contract, status 502, text\/html: \d+, such as 502, text\/html, <html> <h1>Bad \[31mgateway<\/h1>x{100,200}; the Content-Type must be application\/json$/m,
  );
  expect(stdout).toMatch(
    /^an answer outside the contract, status 403, application\/json: \d+, such as 403, application\/json, \{"message":"Forbidden"\}; it must be 200 with/m,
  );
  expect(stdout).toMatch(
    /^an answer outside the contract, status 200, no Content-Type: \d+, such as 200, no Content-Type, \{/m,
  );
  expect(stdout).toMatch(/^a 200 with another plant: \d+, such as \{"name":"another"\}$/m);
  expect(code).toBe(1);
});
