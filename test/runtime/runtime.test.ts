import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { lambdaEnvironment } from '../../local/lambda.ts';
import { synthesize } from '../../local/synthesize.ts';
import { type FunctionConfiguration, functionBehind, readTemplate, servedFunctions } from '../../local/template.ts';
import { AUDIENCE, certifiedProvider, SCOPE } from '../support/certified-provider.ts';
import { contractBody } from '../support/contract.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { errorOfSample, eventWith, sampleEvent, sampleNames } from '../support/event.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { newKey, startIssuer } from '../support/issuer.ts';
import { copyProject } from '../support/project-copy.ts';
import { type Runtime, startRuntime } from './runtime-api.ts';

/* The built bundles under AWS's runtime client for Node.js. */

const template = readTemplate(inject('assembly'));
const served = servedFunctions(template);
let engine: Engine;
let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
/** By the function's name. */
const runtimes = new Map<string, Runtime>();

beforeAll(async () => {
  engine = await startEngine();
  proxy = await startFaultProxy(engine.endpoint);
  for (const configuration of served) runtimes.set(configuration.name, await start(configuration));
});
afterEach(() => proxy.plan());
afterAll(async () => {
  for (const runtime of runtimes.values()) await runtime.close();
  proxy.close();
  await engine.close();
});

function start({ name, assetDirectory, environment }: FunctionConfiguration, variables = {}): Promise<Runtime> {
  return startRuntime(assetDirectory, { ...lambdaEnvironment(name, proxy.endpoint), ...environment, ...variables });
}

/** The function behind an event's route. */
function runtimeOf({ httpMethod, resource }: APIGatewayProxyEvent): Runtime {
  const { name } = functionBehind(template, httpMethod, resource);
  const runtime = runtimes.get(name);
  if (!runtime) throw new Error(`No runtime was started for ${name}.`);
  return runtime;
}

/** What a function responds, by default the one behind the event's route. */
async function respond(event: APIGatewayProxyEvent, { runtime = runtimeOf(event), remainingMs = 10_000 } = {}) {
  return contractBody(JSON.parse(await runtime.invoke(event, remainingMs)));
}

const creating = (id: number) => eventWith({ body: `{"id":${id},"name":"x"}` });

function breakDatabase(fault: Fault): void {
  proxy.plan({ call: `PutItem ${engine.plantsTable}`, fault, times: Number.POSITIVE_INFINITY, applied: false });
}

test('every sample event has its response, each in the environment that the last one left', async () => {
  for (const name of sampleNames) {
    expect((await respond(sampleEvent(name)))['error'], name).toBe(errorOfSample(name));
  }
});

test('a database that never responds is error 504 before the deadline, and the next event is served', async () => {
  breakDatabase('drips');
  const before = performance.now();
  expect(await respond(creating(101), { remainingMs: 5000 })).toMatchObject({ error: 504 });
  expect(performance.now() - before).toBeLessThan(5000);
  proxy.plan();
  expect(await respond(creating(101))).toEqual({ name: 'x' });
});

test('each request is one line of Lambda’s JSON log, an internal error with its stack', async () => {
  const runtime = runtimeOf(creating(102));
  const lines = () =>
    runtime
      .log()
      .split('\n')
      .filter((line) => line.includes('outcome'));
  const before = lines().length;
  await respond(creating(102));
  breakDatabase('answers 500');
  await respond(creating(103));
  await expect.poll(() => lines().length).toBe(before + 2);
  const common = { timestamp: expect.any(String), requestId: expect.any(String) };
  const inner = { name: 'InternalServerError', stack: expect.stringContaining('index.mjs') };
  expect(
    lines()
      .slice(before)
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { ...common, level: 'INFO', message: { outcome: 'succeeded', version: '$LATEST', tokenName: 'development' } },
    { ...common, level: 'ERROR', message: { outcome: 'failed', error: 503, cause: { cause: inner } } },
  ]);
});

test.each(served)('a cold start of $name without a table fails at init with a sentence', async (configuration) => {
  const broken = await start(configuration, { ACCESS_TOKENS_TABLE_NAME: '' });
  const errorMessage = 'The environment variable ACCESS_TOKENS_TABLE_NAME is missing: it must be set by the stack.';
  expect(await broken.initError).toMatchObject({ errorMessage });
  await broken.close();
});

test('tokens of an identity provider are valid in the bundle and at the local run, and error 503 without it', async () => {
  const issuer = await startIssuer();
  const newToken = certifiedProvider(issuer, newKey());
  const project = copyProject();
  onTestFinished(async () => {
    project.remove();
    await issuer.close();
  });
  const certificate = join(project.directory, 'issuer.pem');
  writeFileSync(certificate, issuer.certificate);
  const trusting = { NODE_EXTRA_CA_CERTS: certificate };
  const settings = { tokenIssuer: issuer.url, tokenAudience: AUDIENCE, tokenScope: SCOPE };
  const withProvider = readTemplate(await synthesize(join(project.directory, 'cdk.out'), settings));
  const configuration = functionBehind(withProvider, 'POST', '/plants');
  const fetchedBody = () => issuer.requests.filter((path) => path !== '/token');
  const headers = { Authorization: `Bearer ${await newToken()}`, 'Content-Type': 'application/json' };

  const runtime = await start(configuration, trusting);
  await runtime.ready();
  expect(fetchedBody()).toHaveLength(2);
  for (const _ of 'ab') expect(await respond(eventWith({ headers }), { runtime })).toHaveProperty('name');
  // The keys were fetchedBody at init, and once.
  expect(fetchedBody()).toHaveLength(2);
  expect(runtime.log()).toMatch(/"tokenName":"127\.0\.0\.1:\d+\/[0-9a-f]{12}"/);
  await runtime.close();

  // It does not trust the certificate.
  const alone = await start(configuration);
  expect(await respond(eventWith({ headers }), { runtime: alone })).toMatchObject({ error: 503 });
  expect(alone.log()).toContain('self-signed certificate');
  await alone.close();

  const cdkJson = join(project.directory, 'cdk.json');
  const { context, ...app } = JSON.parse(readFileSync(cdkJson, 'utf8'));
  writeFileSync(cdkJson, JSON.stringify({ ...app, context: { ...context, ...settings } }));
  const { url } = await project.start('npm start', trusting);
  const smoke = await project.run(`npm run --silent smoke -- ${new URL(url).origin} --token ${await newToken()}`);
  expect(smoke.stdout).toMatch(/^\d+ checks passed, 0 failed; /m);
  expect(smoke.code).toBe(0);
});
