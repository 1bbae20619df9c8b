import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../local/synthesize.ts';
import { inContract } from '../support/contract.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { errorOfSample, eventWith, sampleEvent, sampleNames } from '../support/event.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Outcome, type Runtime, startRuntime } from './runtime-api.ts';

let engine: Engine;
let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
let runtime: Runtime;
const bundle = () => engine.template.functions[0]?.assetDirectory ?? '';
const environment = () => ({
  AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  PLANTS_TABLE_NAME: engine.plantsTable,
  ACCESS_TOKENS_TABLE_NAME: engine.accessTokensTable,
});

beforeAll(async () => {
  engine = await startEngine();
  proxy = await startFaultProxy(engine.endpoint);
  runtime = await startRuntime(bundle(), environment());
});
afterAll(async () => {
  await runtime.close();
  proxy.close();
  await engine.close();
});

const isCreatePlant = ({ httpMethod, resource }: APIGatewayProxyEvent) =>
  httpMethod === 'POST' && resource === '/plants';

function answerOf(outcome: Outcome): Record<string, unknown> {
  if ('error' in outcome) throw new Error(`The function failed: ${JSON.stringify(outcome.error)}`);
  return inContract(JSON.parse(outcome.response));
}

test('every sample event is answered as expected, each in the environment that the last one left', async () => {
  for (const name of sampleNames.filter((each) => isCreatePlant(sampleEvent(each)))) {
    expect(answerOf(await runtime.invoke(sampleEvent(name)))['error'], name).toBe(errorOfSample(name));
  }
});

test('after an error the next event is served as before', async () => {
  proxy.plan({
    call: `PutItem ${engine.plantsTable}`,
    fault: 'resets the connection',
    times: Number.POSITIVE_INFINITY,
    applied: false,
  });
  expect(answerOf(await runtime.invoke(eventWith({ body: '{"id":100,"name":"x"}' })))).toMatchObject({ error: 503 });
  proxy.plan();
  expect(answerOf(await runtime.invoke(eventWith({ body: '{"id":100,"name":"x"}' })))).toEqual({ name: 'x' });
});

test('a store that never answers is a 504 before the deadline', async () => {
  proxy.plan({
    call: `PutItem ${engine.plantsTable}`,
    fault: 'drips',
    times: Number.POSITIVE_INFINITY,
    applied: false,
  });
  const start = performance.now();
  const answer = answerOf(await runtime.invoke(eventWith({ body: '{"id":101,"name":"x"}' }), 5000));
  proxy.plan();
  expect(answer).toMatchObject({ error: 504 });
  expect(performance.now() - start).toBeLessThan(5000);
  expect(answerOf(await runtime.invoke(eventWith({ body: '{"id":101,"name":"x"}' })))).toEqual({ name: 'x' });
});

test('each request is one line of Lambda’s JSON log, a fault of ours with its stack', async () => {
  const lines = () =>
    runtime
      .log()
      .split('\n')
      .filter((line) => line.includes('outcome'))
      .map((line) => JSON.parse(line));
  const before = lines().length;
  await runtime.invoke(eventWith({ body: '{"id":102,"name":"x"}' }));
  proxy.plan({
    call: `PutItem ${engine.plantsTable}`,
    fault: 'answers 500',
    times: Number.POSITIVE_INFINITY,
    applied: false,
  });
  await runtime.invoke(eventWith({ body: '{"id":103,"name":"x"}' }));
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
        outcome: 'failed',
        error: 503,
        cause: expect.objectContaining({
          cause: expect.objectContaining({ name: 'InternalServerError', stack: expect.stringContaining('index.mjs') }),
        }),
      }),
    },
  ]);
});

test.each(['PLANTS_TABLE_NAME', 'ACCESS_TOKENS_TABLE_NAME'] as const)(
  'a cold start without %s fails at init with a sentence',
  async (name) => {
    const { [name]: _, ...others } = environment();
    const broken = await startRuntime(bundle(), others as Record<string, string>);
    expect(await broken.initError).toMatchObject({
      errorMessage: `The environment variable ${name} is missing: it must be set by the stack.`,
    });
    await broken.close();
  },
);

test('a rejection that nobody awaits is a 500 of ours, and the environment lives on', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  const source = (file: string) => JSON.stringify(join(projectRoot, 'functions/shared', file));
  writeFileSync(
    join(directory, 'index.mjs'),
    `import middy from ${JSON.stringify(import.meta.resolve('@middy/core'))};
     import { errorResponse } from ${source('error-response.ts')};
     import { strayRejections } from ${source('stray-rejections.ts')};
     export const handler = middy().use(errorResponse()).use(strayRejections('createPlant')).handler(async (event) => {
       if (event.stray) Promise.reject(new Error('inside'));
       await new Promise((resolve) => setTimeout(resolve, 10));
       if (event.throws) throw new Error('inside');
       return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' };
     });`,
  );
  const stray = await startRuntime(directory, environment());
  expect(answerOf(await stray.invoke({ stray: true }))).toMatchObject({ error: 500 });
  expect(answerOf(await stray.invoke({}))).toEqual({ name: 'x' });
  expect(answerOf(await stray.invoke({ stray: true, throws: true }))).toMatchObject({ error: 500 });
  expect(answerOf(await stray.invoke({}))).toEqual({ name: 'x' });
  await stray.close();
  rmSync(directory, { recursive: true });
});
