import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { functionBehind, readTemplate, servedFunctions } from '../../local/template.ts';
import { inContract } from '../support/contract.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { errorOfSample, eventWith, sampleEvent, sampleNames } from '../support/event.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Outcome, type Runtime, startRuntime } from './runtime-api.ts';

const template = readTemplate(inject('assembly'));
let engine: Engine;
let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
/** By the function's name. */
let runtimes: Map<string, Runtime>;
const start = (directory: string, environment: Record<string, string>) =>
  startRuntime(directory, {
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ...environment,
  });

beforeAll(async () => {
  engine = await startEngine();
  proxy = await startFaultProxy(engine.endpoint);
  runtimes = new Map();
  for (const { name, assetDirectory, environment } of servedFunctions(template)) {
    runtimes.set(name, await start(assetDirectory, environment));
  }
});
afterAll(async () => {
  for (const runtime of runtimes.values()) await runtime.close();
  proxy.close();
  await engine.close();
});

/** The environment of the function behind a route. */
function runtimeOf(method: string, resource: string): Runtime {
  const runtime = runtimes.get(functionBehind(template, method, resource).name);
  if (!runtime) throw new Error(`No runtime was started for ${method} ${resource}.`);
  return runtime;
}

/** What the function behind an event's route answers. */
async function answer(event: APIGatewayProxyEvent, remainingMs?: number): Promise<Record<string, unknown>> {
  return answerOf(await runtimeOf(event.httpMethod, event.resource).invoke(event, remainingMs));
}

function answerOf(outcome: Outcome): Record<string, unknown> {
  if ('error' in outcome) throw new Error(`The function failed: ${JSON.stringify(outcome.error)}`);
  return inContract(JSON.parse(outcome.response));
}

test('every sample event is answered as expected, each in the environment that the last one left', async () => {
  for (const name of sampleNames) {
    expect((await answer(sampleEvent(name)))['error'], name).toBe(errorOfSample(name));
  }
});

test('after an error the next event is served as before', async () => {
  proxy.plan({
    call: `PutItem ${engine.plantsTable}`,
    fault: 'resets the connection',
    times: Number.POSITIVE_INFINITY,
    applied: false,
  });
  expect(await answer(eventWith({ body: '{"id":100,"name":"x"}' }))).toMatchObject({ error: 503 });
  proxy.plan();
  expect(await answer(eventWith({ body: '{"id":100,"name":"x"}' }))).toEqual({ name: 'x' });
});

test('a database that never answers is a 504 before the deadline', async () => {
  proxy.plan({
    call: `PutItem ${engine.plantsTable}`,
    fault: 'drips',
    times: Number.POSITIVE_INFINITY,
    applied: false,
  });
  const before = performance.now();
  const late = await answer(eventWith({ body: '{"id":101,"name":"x"}' }), 5000);
  proxy.plan();
  expect(late).toMatchObject({ error: 504 });
  expect(performance.now() - before).toBeLessThan(5000);
  expect(await answer(eventWith({ body: '{"id":101,"name":"x"}' }))).toEqual({ name: 'x' });
});

test('each request is one line of Lambda’s JSON log, a fault of ours with its stack', async () => {
  const lines = () =>
    runtimeOf('POST', '/plants')
      .log()
      .split('\n')
      .filter((line) => line.includes('outcome'))
      .map((line) => JSON.parse(line));
  const before = lines().length;
  await answer(eventWith({ body: '{"id":102,"name":"x"}' }));
  proxy.plan({
    call: `PutItem ${engine.plantsTable}`,
    fault: 'answers 500',
    times: Number.POSITIVE_INFINITY,
    applied: false,
  });
  await answer(eventWith({ body: '{"id":103,"name":"x"}' }));
  proxy.plan();
  const { extendedRequestId } = eventWith().requestContext;
  await expect.poll(() => lines().length).toBe(before + 2);
  expect(lines().slice(before)).toEqual([
    {
      timestamp: expect.any(String),
      level: 'INFO',
      requestId: expect.any(String),
      message: {
        operation: 'createPlant',
        version: '$LATEST',
        outcome: 'succeeded',
        extendedRequestId,
        tokenName: 'development',
        durationMs: expect.any(Number),
      },
    },
    {
      timestamp: expect.any(String),
      level: 'ERROR',
      requestId: expect.any(String),
      message: expect.objectContaining({
        operation: 'createPlant',
        outcome: 'failed',
        error: 503,
        cause: expect.objectContaining({
          cause: expect.objectContaining({ name: 'InternalServerError', stack: expect.stringContaining('index.mjs') }),
        }),
      }),
    },
  ]);
});

test.each(
  servedFunctions(template).flatMap(({ name, assetDirectory, environment }) =>
    Object.keys(environment)
      .filter((variable) => variable.endsWith('_TABLE_NAME'))
      .map((missing) => ({ name, assetDirectory, environment, missing })),
  ),
)(
  'a cold start of $name without $missing fails at init with a sentence',
  async ({ assetDirectory, environment, missing }) => {
    const { [missing]: _, ...others } = environment;
    const broken = await start(assetDirectory, others);
    expect(await broken.initError).toMatchObject({
      errorMessage: `The environment variable ${missing} is missing: it must be set by the stack.`,
    });
    await broken.close();
  },
);
