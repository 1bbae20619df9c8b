import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { lambdaVariables } from '../../tools/local/lambda.ts';
import { synthesize } from '../../tools/local/synthesize.ts';
import {
  type FunctionConfiguration,
  functionOfRoute,
  readTemplate,
  servedFunctions,
} from '../../tools/local/template.ts';
import { sharedTemplate } from '../support/assembly.ts';
import { contractBody } from '../support/contract.ts';
import { startFailureProxy } from '../support/dynamodb-proxy.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { eventWith, sampleEvent } from '../support/event.ts';
import { newKey, signed, startIssuer } from '../support/issuer.ts';
import { copyProject } from '../support/project-copy.ts';
import { type Runtime, startRuntime } from './runtime-api.ts';

/* The built bundles under AWS's runtime client for Node.js. */

const template = await sharedTemplate();
let engine: Engine;
let proxy: Awaited<ReturnType<typeof startFailureProxy>>;
/** By the function's name. */
const runtimes = new Map<string, Runtime>();

beforeAll(async () => {
  engine = await startEngine(template);
  proxy = await startFailureProxy(engine.endpoint);
  for (const configuration of servedFunctions(template)) runtimes.set(configuration.name, await start(configuration));
});
afterEach(() => proxy.plan());
afterAll(async () => {
  for (const runtime of runtimes.values()) await runtime.close();
  proxy.close();
  await engine.close();
});

function start({ name, assetDirectory, environmentVariables }: FunctionConfiguration, others = {}): Promise<Runtime> {
  return startRuntime(assetDirectory, { ...lambdaVariables(name, proxy.endpoint), ...environmentVariables, ...others });
}

/** The function behind an event's route. */
function runtimeOf({ httpMethod, resource }: APIGatewayProxyEvent): Runtime {
  const { name } = functionOfRoute(template, httpMethod, resource);
  const runtime = runtimes.get(name);
  if (!runtime) throw new Error(`No runtime was started for ${name}.`);
  return runtime;
}

/** Returns the response of a function, by default that of the event's route. */
async function respond(event: APIGatewayProxyEvent, runtime = runtimeOf(event)) {
  return contractBody(JSON.parse(await runtime.invoke(event)));
}

const creationOf = (id: number) => eventWith({ body: `{"id":${id},"name":"x"}` });

test('responds to events one after the other in one execution environment', async () => {
  for (const _ of [1, 2]) expect(await respond(sampleEvent('create-plant'))).toHaveProperty('name');
  expect(await respond(sampleEvent('create-plant-no-token'))).toMatchObject({ error: 401 });
});

test('logs one JSON line for each request, with the stack of an internal error', async () => {
  const runtime = runtimeOf(creationOf(102));
  const lines = () => runtime.log().match(/.*outcome.*/g) ?? [];
  const before = lines().length;
  await respond(creationOf(102));
  const call = `PutItem ${engine.plantsTable}`;
  proxy.plan({ call, failure: 'responds with 500', times: 9, applied: false });
  await respond(creationOf(103));
  await expect.poll(() => lines().length).toBe(before + 2);
  const common = { timestamp: expect.any(String), requestId: expect.any(String) };
  const inner = { name: 'InternalServerError', stack: expect.stringContaining('index.mjs') };
  const added = lines().slice(before);
  expect(added.map((line) => JSON.parse(line))).toMatchObject([
    { ...common, level: 'INFO', message: { outcome: 'succeeded', version: '$LATEST', tokenName: 'development' } },
    { ...common, level: 'ERROR', message: { outcome: 'failed', error: 503, cause: { cause: inner } } },
  ]);
});

test('accepts tokens of an identity provider in the bundle and at the local run; returns 503 if its certificate is not trusted', async () => {
  const issuer = await startIssuer();
  const key = newKey();
  issuer.publish(key);
  const claims = { iss: issuer.url, aud: 'plants', scope: 'plants/write', sub: 'a-partner', exp: 2 ** 33 };
  const token = signed(key, claims, { typ: 'at+jwt' });
  const project = copyProject();
  onTestFinished(async () => {
    project.close();
    await issuer.close();
  });
  const certificate = join(project.directory, 'issuer.pem');
  writeFileSync(certificate, issuer.certificate);
  const trusting = { NODE_EXTRA_CA_CERTS: certificate };
  const settings = { tokenIssuer: issuer.url, tokenAudience: 'plants', tokenScope: 'plants/write' };
  const withProvider = readTemplate(await synthesize(join(project.directory, 'cdk.out'), settings));
  const configuration = functionOfRoute(withProvider, 'POST', '/plants');
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

  const runtime = await start(configuration, trusting);
  await runtime.ready();
  expect(issuer.requests).toHaveLength(2);
  for (const _ of [1, 2]) expect(await respond(eventWith({ headers }), runtime)).toHaveProperty('name');
  // The keys are fetched only once, at init.
  expect(issuer.requests).toHaveLength(2);
  expect(runtime.log()).toMatch(/"tokenName":"127\.0\.0\.1:\d+\/[0-9a-f]{12}"/);
  await runtime.close();

  // This process does not trust the issuer's certificate.
  const untrusting = await start(configuration);
  expect(await respond(eventWith({ headers }), untrusting)).toMatchObject({ error: 503 });
  expect(untrusting.log()).toContain('self-signed certificate');
  await untrusting.close();

  const cdkJson = join(project.directory, 'cdk.json');
  const { context, ...app } = JSON.parse(readFileSync(cdkJson, 'utf8'));
  writeFileSync(cdkJson, JSON.stringify({ ...app, context: { ...context, ...settings } }));
  const { url } = await project.start('npm start', trusting);
  const smoke = await project.run(`npm run --silent smoke -- ${new URL(url).origin} --token ${token}`);
  expect(smoke.stdout).toMatch(/^\d+ checks passed, 0 failed; /m);
  expect(smoke.code).toBe(0);
});
