import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import type { CompleteSettings } from '../../infra/settings.ts';
import { contractBody } from '../support/contract-body.ts';
import { startFailureProxy } from '../support/dynamodb-proxy.ts';
import { startEngine } from '../support/engine.ts';
import { bodyOf, eventWith, plantWith } from '../support/event.ts';
import { newKey, signed, startIssuer } from '../support/issuer.ts';
import { bundleWith, templateWith } from '../support/stack.ts';
import { startRuntime } from './runtime-api.ts';

/* The function of the template on AWS's runtime client for Node.js. */

const engine = await startEngine();
const proxy = await startFailureProxy(engine.endpoint);
const { AWS_REGION = '', AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;

/** Starts the function of a stack as Lambda does, with these additional environment variables. */
async function startFunction(settings: Partial<CompleteSettings> = {}, variables: Record<string, string> = {}) {
  const template = templateWith(settings);
  const { Environment, Handler, LoggingConfig, MemorySize } = template.propertiesOf('AWS::Lambda::Function');
  // The logical ids of the tables are their names in the engine.
  const named = JSON.parse(JSON.stringify(Environment.Variables).replaceAll(/\${(\w+)}/g, '$1'));
  const { close, invoke, log } = await startRuntime(bundleWith(settings), {
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
    AWS_LAMBDA_LOG_FORMAT: LoggingConfig.LogFormat,
    _HANDLER: Handler,
    AWS_REGION,
    AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY,
    ...named,
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
    ...variables,
  });
  onTestFinished(close);
  return { log, respond: async (event: object) => contractBody(JSON.parse(await invoke(event))) };
}

test('responds to events one after the other, and logs one JSON line for each, with the stack of an internal error', async () => {
  const { log, respond } = await startFunction();
  expect(await respond(eventWith({ body: bodyOf(102) }))).toEqual(plantWith());
  proxy.plan({ call: `PutItem ${engine.plantsTable}`, failure: 'responds with 500' });
  onTestFinished(() => proxy.plan());
  await respond(eventWith({ body: bodyOf(103) }));
  const common = { timestamp: expect.any(String), requestId: expect.any(String) };
  const inner = { name: 'InternalServerError', stack: expect.stringContaining('index.mjs') };
  const lines = () => (log().match(/.*outcome.*/g) ?? []).map((line) => JSON.parse(line));
  await expect.poll(lines).toMatchObject([
    { ...common, level: 'INFO', message: { outcome: 'succeeded', version: '$LATEST', tokenName: 'development' } },
    { ...common, level: 'ERROR', message: { outcome: 'failed', error: 503, fault: { cause: inner } } },
  ]);
});

test('accepts a token of an identity provider, and returns 503 if its certificate is not trusted', async () => {
  const issuer = await startIssuer();
  onTestFinished(issuer.close);
  const key = newKey();
  issuer.publish(key);
  const claims = { iss: issuer.url, aud: 'plants', scope: 'write', sub: 'a-partner', exp: 2 ** 33 };
  const token = signed(key, claims, { typ: 'at+jwt' });
  const event = eventWith({ headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' } });
  const NODE_EXTRA_CA_CERTS = `${tmpdir()}/issuer.pem`;
  writeFileSync(NODE_EXTRA_CA_CERTS, issuer.certificate);
  const identityProvider = { issuer: issuer.url, audiences: ['plants'] satisfies [string], scope: 'write' };
  const trusting = await startFunction({ identityProvider }, { NODE_EXTRA_CA_CERTS });
  expect(await trusting.respond(event)).toEqual(plantWith());
  expect(trusting.log()).toMatch(/"tokenName":"127\.0\.0\.1:\d+\/[0-9a-f]{12}"/);
  const untrusting = await startFunction({ identityProvider });
  expect(await untrusting.respond(event)).toMatchObject({ error: 503 });
  expect(untrusting.log()).toContain('self-signed certificate');
});
