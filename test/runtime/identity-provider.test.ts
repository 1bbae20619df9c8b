import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { synthesize } from '../../local/synthesize.ts';
import { functionBehind, readTemplate } from '../../local/template.ts';
import { AUDIENCE, certifiedProvider, SCOPE } from '../support/certified-provider.ts';
import { inContract } from '../support/contract.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { eventWith } from '../support/event.ts';
import { type Issuer, newKey, startIssuer } from '../support/issuer.ts';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';
import { type Runtime, startRuntime } from './runtime-api.ts';

let issuer: Issuer;
let newToken: () => Promise<string>;
let context: Record<string, string>;
let project: ProjectCopy;
beforeAll(async () => {
  issuer = await startIssuer();
  newToken = certifiedProvider(issuer, newKey());
  context = { tokenIssuer: issuer.url, tokenAudience: AUDIENCE, tokenScope: SCOPE };
  project = copyProject();
});
afterAll(async () => {
  project.remove();
  await issuer.close();
});

test('the deployed bundle takes a real token, and says 503 where a new environment cannot reach the provider', async () => {
  const engine: Engine = await startEngine();
  const template = readTemplate(await synthesize(join(project.directory, 'cdk.out'), context));
  const { assetDirectory, environment } = functionBehind(template, 'POST', '/plants');
  const start = (variables: Record<string, string>) =>
    startRuntime(assetDirectory, {
      ...environment,
      // The tables of the engine are those of the stack by default.
      PLANTS_TABLE_NAME: engine.plantsTable,
      ACCESS_TOKENS_TABLE_NAME: engine.accessTokensTable,
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      ...variables,
    });
  const event = eventWith({
    headers: { Authorization: `Bearer ${await newToken()}`, 'Content-Type': 'application/json' },
  });
  const answer = async (runtime: Runtime) => {
    const outcome = await runtime.invoke(event);
    if ('error' in outcome) throw new Error(JSON.stringify(outcome.error));
    return inContract(JSON.parse(outcome.response));
  };

  const runtime = await start({ NODE_EXTRA_CA_CERTS: issuer.certificate });
  await runtime.ready();
  expect(issuer.requests.filter((path) => path !== '/token')).toHaveLength(2);
  for (const _ of 'ab') expect(await answer(runtime)).toMatchObject({ name: expect.any(String) });
  // The keys were fetched at init, and once.
  expect(issuer.requests.filter((path) => path !== '/token')).toHaveLength(2);
  expect(runtime.log()).toMatch(/"tokenName":"127\.0\.0\.1:\d+\/[0-9a-f]{12}"/);
  await runtime.close();

  // Without the certificate nobody there is who he says.
  const alone = await start({});
  expect(await answer(alone)).toMatchObject({ error: 503 });
  expect(alone.log()).toContain('self-signed certificate');
  await alone.close();
  await engine.close();
});

test('the local run takes the context keys of cdk.json, and the smoke a token of the provider', async () => {
  const file = join(project.directory, 'cdk.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...settings, context: { ...settings.context, ...context } }));
  const { url } = await project.start('npm start', { NODE_EXTRA_CA_CERTS: issuer.certificate });
  const baseUrl = new URL(url).origin;
  const smoke = await project.run(`npm run --silent smoke -- ${baseUrl} --token ${await newToken()}`);
  expect(smoke.stdout).toMatch(/^\d+ checks passed, 0 failed; /m);
  expect(smoke.code).toBe(0);
});
