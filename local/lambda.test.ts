import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LogLine, startFunction } from './lambda.ts';
import type { FunctionConfiguration } from './template.ts';

/** Starts a handler's source as a function. */
async function start(handler: string, changes: Partial<FunctionConfiguration> = {}) {
  const assetDirectory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  const source = `
    import { existsSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { resourceLimits, threadId } from 'node:worker_threads';
    export const handler = ${handler};`;
  writeFileSync(join(assetDirectory, 'index.mjs'), source);
  const lines: LogLine[] = [];
  const configuration: FunctionConfiguration = {
    name: 'TheFunction',
    assetDirectory,
    handler: 'index.handler',
    timeoutSeconds: 30,
    memoryMegabytes: 128,
    environment: {},
    ...changes,
  };
  const lambda = await startFunction(configuration, (line) => lines.push(line));
  onTestFinished(async () => {
    await lambda.close();
    rmSync(assetDirectory, { recursive: true });
  });
  const invoke = async (event: unknown = {}) => JSON.parse(await lambda.invoke(JSON.stringify(event)));
  return { invoke, close: lambda.close, lines, assetDirectory };
}

test('eight events are served at a time, each alone in its environment, and the rest wait their turn', async () => {
  const { invoke, lines, assetDirectory } = await start(`(() => {
    let serving = 0;
    return async ({ gate }) => {
      const alone = ++serving === 1;
      console.log('serving');
      while (!existsSync(gate)) await sleep(5);
      serving--;
      return { threadId, alone };
    };
  })()`);
  const gate = join(assetDirectory, 'open');
  const answers = Promise.all(Array.from({ length: 20 }, () => invoke({ gate })));
  await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(8);
  expect(existsSync(gate)).toBe(false);
  writeFileSync(gate, '');
  expect(new Set((await answers).map(({ threadId }) => threadId)).size).toBe(8);
  expect((await answers).every(({ alone }) => alone)).toBe(true);
});

test('a function has its timeout to the last millisecond, and no more', async () => {
  const { invoke } = await start('() => new Promise(() => {})', { timeoutSeconds: 3 });
  const workers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
  const before = workers();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let outcome = 'none';
  const ended = invoke().catch((error: Error) => {
    outcome = error.message;
  });
  await vi.advanceTimersByTimeAsync(2999);
  expect(outcome).toBe('none');
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome).toBe('Task timed out after 3.00 seconds');
  await ended;
  vi.useRealTimers();
  await expect.poll(workers, { timeout: 20_000 }).toBeLessThan(before);
});

test('the context and the environment say how the function is configured', async () => {
  vi.stubEnv('AWS_PROFILE', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { invoke } = await start(
    `async (event, context) =>
      ({ ...context, left: context.getRemainingTimeInMillis(), resourceLimits, environment: process.env })`,
    { environment: { OWN: 'x' } },
  );
  const first = await invoke();
  expect(first).toMatchObject({
    functionName: 'TheFunction',
    functionVersion: '$LATEST',
    memoryLimitInMB: '128',
    awsRequestId: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
    callbackWaitsForEmptyEventLoop: true,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  expect(first.environment).toEqual({ OWN: 'x' });
  expect(first.left).toBeLessThanOrEqual(30_000);
  expect(first.left).toBeGreaterThan(20_000);
  expect((await invoke()).awsRequestId).not.toBe(first.awsRequestId);
});

test.each([
  ['debug', 'DEBUG'],
  ['info', 'INFO'],
  ['log', 'INFO'],
  ['warn', 'WARN'],
  ['error', 'ERROR'],
])('what console.%s is given is a line at %s', async (method, level) => {
  const { invoke, lines } = await start(`async () => console.${method}({ plant: 1 })`);
  expect(await invoke()).toBe(null);
  expect(lines).toEqual([{ timestamp: expect.stringMatching(/^\d{4}-.*Z$/), level, message: { plant: 1 } }]);
});

test.each([
  ['index.none', 'index.mjs does not export a function "none".'],
  ['none.handler', 'none.mjs'],
])('a bundle without its handler (%s) does not start', async (handler, message) => {
  await expect(start('async () => {}', { handler })).rejects.toThrow(message);
});

test.each([
  ['throws', 'async () => { throw new TypeError("inside") }', 'TypeError: inside'],
  ['exits with', 'async () => process.exit(3)', 'The execution environment exited with status 3.'],
  ['throws as a text', 'async () => { throw "inside" }', 'inside'],
  ['leaves behind', 'async () => { Promise.reject(new TypeError("inside")); await sleep(60_000) }', 'inside'],
  ['leaves behind as a text', 'async () => { Promise.reject("inside"); await sleep(60_000) }', 'inside'],
])('what a function %s is what the invocation throws', async (_, handler, message) => {
  const { invoke } = await start(handler);
  const error = await invoke().catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toContain(message);
});

test('an environment that does not start fails its own event, and those that wait go on', async () => {
  const { invoke, assetDirectory } = await start(`(() => {
    if (existsSync(new URL('broken', import.meta.url))) throw new Error('broken');
    return async ({ gate }) => {
      while (!existsSync(gate)) await sleep(5);
      return 'served';
    };
  })()`);
  writeFileSync(join(assetDirectory, 'broken'), '');
  const gate = join(assetDirectory, 'open');
  let failed = 0;
  const answers = Array.from({ length: 12 }, () => invoke({ gate }).catch(() => ++failed));
  await expect.poll(() => failed, { timeout: 60_000 }).toBe(11);
  writeFileSync(gate, '');
  expect(await Promise.all(answers)).toContain('served');
});

test('an event that was answered in time leaves its environment to the next', async () => {
  const { invoke } = await start('async () => threadId', { timeoutSeconds: 3 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const first = await invoke();
  vi.advanceTimersByTime(3000);
  expect(await invoke()).toBe(first);
});

test('a function that is closed answers first what was begun, and what waits for its turn', async () => {
  const { invoke, close, lines, assetDirectory } = await start(`async ({ gate }) => {
    console.log('serving');
    while (!existsSync(gate)) await sleep(5);
    return 'served';
  }`);
  const gate = join(assetDirectory, 'open');
  const answers = Promise.all(Array.from({ length: 9 }, () => invoke({ gate })));
  await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(8);
  const closed = close();
  writeFileSync(gate, '');
  await closed;
  expect(await answers).toEqual(Array.from({ length: 9 }, () => 'served'));
});
