import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sharedTemplate } from '../../test/support/assembly.ts';
import { lambdaVariables, startFunction, startServedFunctions } from './lambda.ts';
import type { LogLine } from './log.ts';
import type { FunctionConfiguration } from './template.ts';

/**
 * Writes a function with this handler, which stores its process id in the file `pid`. A handler can wait with `gate()`
 * until the test calls `write('gate')`.
 */
function configurationOf(handler: string, changes: Partial<FunctionConfiguration> = {}): FunctionConfiguration {
  const assetDirectory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  const source = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    writeFileSync(new URL('pid', import.meta.url), String(process.pid));
    const exists = (name) => existsSync(new URL(name, import.meta.url));
    const gate = async () => { while (!exists('gate')) await sleep(5); };
    export const handler = ${handler};`;
  writeFileSync(join(assetDirectory, 'index.mjs'), source);
  return {
    name: 'TheFunction',
    assetDirectory,
    handler: 'index.handler',
    timeoutSeconds: 30,
    memoryMegabytes: 128,
    environmentVariables: {},
    ...changes,
  };
}

async function start(handler: string, changes: Partial<FunctionConfiguration> = {}) {
  const lines: LogLine[] = [];
  const configuration = configurationOf(handler, changes);
  const { invoke, interrupt, close } = await startFunction(configuration, (line) => lines.push(line));
  onTestFinished(close);
  return {
    invoke: async (event: unknown = {}) => (await invoke(event)) as Record<string, unknown>,
    interrupt,
    close,
    configuration,
    lines,
    write: (name: string) => writeFileSync(join(configuration.assetDirectory, name), ''),
  };
}

/** True if the process of a function is running. */
function isRunning({ assetDirectory }: FunctionConfiguration): boolean {
  const pid = Number(readFileSync(join(assetDirectory, 'pid'), 'utf8'));
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('runs one event at a time, and finishes all before it closes', async () => {
  const { invoke, close, lines, write, configuration } = await start(`(() => {
    let running = 0;
    return async ({ n }) => {
      const isAlone = ++running === 1;
      console.log('running');
      await gate();
      running--;
      return { n, isAlone };
    };
  })()`);
  const responses = Promise.all(Array.from({ length: 20 }, (_, n) => invoke({ n })));
  await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(1);
  const closed = close();
  expect(isRunning(configuration)).toBe(true);
  write('gate');
  expect(await responses).toEqual(Array.from({ length: 20 }, (_, n) => ({ n, isAlone: true })));
  await closed;
  expect(isRunning(configuration)).toBe(false);
});

test('an interruption fails the event in progress, and the next one runs', async () => {
  const { invoke, interrupt, lines, write } = await start(
    "async () => { console.log('x'); await gate(); return 'ran'; }",
  );
  const interrupted = invoke().catch((error: Error) => error.message);
  await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(1);
  await interrupt();
  expect(await interrupted).toBe('The execution environment exited with SIGKILL.');
  write('gate');
  expect(await invoke()).toBe('ran');
});

test('ends an event at the timeout, and runs the next one', async () => {
  const { invoke } = await start('({ hangs }) => hangs ? new Promise(() => {}) : process.pid', { timeoutSeconds: 3 });
  const pid = await invoke();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let result = 'none';
  const ended = invoke({ hangs: true }).catch((error: Error) => {
    result = error.message;
  });
  await vi.advanceTimersByTimeAsync(2999);
  expect(result).toBe('none');
  await vi.advanceTimersByTimeAsync(1);
  expect(result).toBe('Task timed out after 3.00 seconds');
  await ended;
  const next = await invoke();
  expect(next).not.toBe(pid);
  // The timer of a finished event must not end a later one.
  await vi.advanceTimersByTimeAsync(3000);
  expect(await invoke()).toBe(next);
});

test('ends a handler that blocks the process', async () => {
  const { invoke } = await start('async () => { for (;;); }', { timeoutSeconds: 1 });
  await expect(invoke()).rejects.toThrow('Task timed out after 1.00 seconds');
});

test('passes the configuration in the context', async () => {
  const { invoke } = await start(
    'async (event, context) => ({ ...context, left: context.getRemainingTimeInMillis(), execArgv: process.execArgv })',
  );
  const first = await invoke();
  expect(first).toMatchObject({
    functionName: 'TheFunction',
    functionVersion: '$LATEST',
    memoryLimitInMB: '128',
    awsRequestId: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
    callbackWaitsForEmptyEventLoop: true,
    execArgv: ['--max-old-space-size=128'],
  });
  expect(first['left']).toBeLessThanOrEqual(30_000);
  expect(first['left']).toBeGreaterThan(20_000);
  expect((await invoke())['awsRequestId']).not.toBe(first['awsRequestId']);
});

test('closes the other functions if one cannot be started', async () => {
  const other = configurationOf('async () => {}');
  const functions = [other, configurationOf('x', { name: 'Broken' })];
  const routes = functions.map(({ name }) => {
    return { method: 'GET', resource: `/${name}`, integration: { functionName: name } };
  });
  const template = { ...(await sharedTemplate()), functions, routes };
  await expect(startServedFunctions(template, { endpoint: 'http://127.0.0.1:9' }, () => {})).rejects.toThrow(
    /^ReferenceError: x is not defined\n +at .*index\.mjs:7:/,
  );
  expect(isRunning(other)).toBe(false);
});

/** "Using Lambda environment variables". */
test('sets Lambda’s environment variables and the function’s own, and none of this machine', async () => {
  vi.stubEnv('AWS_PROFILE', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const environmentVariables = { OWN: 'x', TZ: 'Europe/Zurich' };
  const functions = [configurationOf('async () => process.env', { environmentVariables })];
  const routes = [{ method: 'GET', resource: '/a', integration: { functionName: 'TheFunction' } }];
  const template = { ...(await sharedTemplate()), functions, routes };
  const { invoke, close } = await startServedFunctions(template, { endpoint: 'http://127.0.0.1:9' }, () => {});
  onTestFinished(close);
  const event: Partial<APIGatewayProxyEvent> = { httpMethod: 'GET', resource: '/a' };
  expect(await invoke(event as APIGatewayProxyEvent)).toEqual({
    AWS_ACCESS_KEY_ID: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
    AWS_LAMBDA_FUNCTION_NAME: 'TheFunction',
    AWS_REGION: 'us-east-1',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    ...environmentVariables,
  });
  expect(lambdaVariables('any', 'any')).toMatchObject({ TZ: ':UTC' });
});

test('passes on log lines with their level', async () => {
  const methods = ['trace', 'debug', 'info', 'log', 'warn', 'error'];
  const { invoke, lines } = await start(
    'async ({ methods }) => methods.forEach((each) => console[each]({ plant: 1 }))',
  );
  expect(await invoke({ methods })).toBe(null);
  expect(lines).toEqual(
    ['TRACE', 'DEBUG', 'INFO', 'INFO', 'WARN', 'ERROR'].map((level) => {
      return { level, text: '{ plant: 1 }', isRequest: false };
    }),
  );
});

test.each([
  ['index.none', 'index.mjs does not export a function "none".'],
  ['none.handler', 'none.mjs'],
])('fails to start without its handler (%s)', async (handler, message) => {
  await expect(start('async () => {}', { handler })).rejects.toThrow(message);
});

test.each([
  ['throws', 'throw new TypeError("inside")', 'TypeError: inside'],
  ['exits', 'process.exit(3)', 'The execution environment exited with status 3.'],
  ['throws a string', 'throw "inside"', 'inside'],
  ['has an unhandled rejection', 'Promise.reject(new TypeError("inside")); await sleep(60_000)', 'inside'],
  ['has an unhandled rejection with a string', 'Promise.reject("inside"); await sleep(60_000)', 'inside'],
  ['returns a value that JSON does not support', 'return 1n', 'BigInt'],
])('fails an event if the handler %s, and runs the next one', async (_, statements, message) => {
  const { invoke } = await start(`async ({ fails }) => { if (fails) { ${statements} } return 'ran'; }`);
  const error = await invoke({ fails: true }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toContain(message);
  expect(await invoke()).toBe('ran');
});

test('fails an event if the process cannot be started again', async () => {
  const { invoke, interrupt, write } = await start("exists('broken') ? undefined : () => 'ran'");
  write('broken');
  await interrupt();
  await expect(invoke()).rejects.toThrow('does not export a function "handler"');
});
