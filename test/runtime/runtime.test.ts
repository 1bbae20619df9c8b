import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { StackSettings } from '../../infra/settings.ts';
import { localVariables } from '../../tools/local/dynamodb.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { contractBody } from '../support/contract-body.ts';
import { startFailureProxy } from '../support/dynamodb-proxy.ts';
import { startEngine } from '../support/engine.ts';
import { eventWith } from '../support/event.ts';
import { newKey, signed, startIssuer } from '../support/issuer.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { bundleWith } from '../support/stack.ts';
import { type Runtime, startRuntime } from './runtime-api.ts';

/* The built bundle of createPlant under AWS's runtime client for Node.js. */

const engine = closedAtEnd(await startEngine());
const proxy = closedAtEnd(await startFailureProxy(engine.endpoint));
const runtime = closedAtEnd(await startBundle());

/** Bundles createPlant with these settings, and starts it with these additional environment variables. */
function startBundle(settings: Partial<StackSettings> = {}, variables: Record<string, string> = {}): Promise<Runtime> {
  const folder = bundleWith(settings);
  return startRuntime(folder, { ...localVariables(proxy.endpoint), ...variables });
}

async function respond(event: object, to = runtime) {
  return contractBody(JSON.parse(await to.invoke(event)));
}

const creationOf = (id: number) => eventWith({ body: bodyOf(id) });

test('responds to events one after the other, and logs one JSON line for each, with the stack of an internal error', async () => {
  const lines = () => runtime.log().match(/.*outcome.*/g) ?? [];
  expect(await respond(creationOf(102))).toEqual(plantWith());
  const call = `PutItem ${engine.plantsTable}`;
  proxy.plan({ call, failure: 'responds with 500', times: 3, applied: false });
  await respond(creationOf(103));
  await expect.poll(() => lines().length).toBe(2);
  const common = { timestamp: expect.any(String), requestId: expect.any(String) };
  const inner = { name: 'InternalServerError', stack: expect.stringContaining('index.mjs') };
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([
    { ...common, level: 'INFO', message: { outcome: 'succeeded', version: '$LATEST', tokenName: 'development' } },
    { ...common, level: 'ERROR', message: { outcome: 'failed', error: 503, fault: { cause: inner } } },
  ]);
});

test('accepts a token of an identity provider, and returns 503 if its certificate is not trusted', async () => {
  const issuer = await startIssuer();
  onTestFinished(issuer.close);
  const key = newKey();
  issuer.publish(key);
  const claims = { iss: issuer.url, aud: 'plants', scope: 'plants/write', sub: 'a-partner', exp: 2 ** 33 };
  const authorization = `Bearer ${signed(key, claims, { typ: 'at+jwt' })}`;
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  const certificate = join(mkdtempSync(join(tmpdir(), 'plant-store-')), 'issuer.pem');
  writeFileSync(certificate, issuer.certificate);
  const settings: Partial<StackSettings> = {
    identityProvider: { issuer: issuer.url, audiences: ['plants'], scope: 'plants/write' },
  };
  const variables = { TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants', TOKEN_SCOPE: 'plants/write' };

  const trustingRuntime = await startBundle(settings, { ...variables, NODE_EXTRA_CA_CERTS: certificate });
  await trustingRuntime.ready();
  expect(issuer.requests).toHaveLength(2);
  for (const _ of [1, 2]) expect(await respond(eventWith({ headers }), trustingRuntime)).toHaveProperty('name');
  // The keys are fetched only once, at init.
  expect(issuer.requests).toHaveLength(2);
  expect(trustingRuntime.log()).toMatch(/"tokenName":"127\.0\.0\.1:\d+\/[0-9a-f]{12}"/);
  await trustingRuntime.close();

  // This process does not trust the issuer's certificate.
  const untrusting = await startBundle(settings, variables);
  expect(await respond(eventWith({ headers }), untrusting)).toMatchObject({ error: 503 });
  expect(untrusting.log()).toContain('self-signed certificate');
  await untrusting.close();
});
