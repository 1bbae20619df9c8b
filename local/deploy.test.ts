import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { deploy } from './deploy.ts';
import type { LogLine } from './lambda.ts';
import { readTemplate, type Template } from './template.ts';

/** Deploys functions that run one handler, each behind a path of its name, with variables of their own. */
async function deployed(handler: string, functions: Record<string, Record<string, string>>) {
  const assetDirectory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  writeFileSync(join(assetDirectory, 'index.mjs'), `export const handler = ${handler};`);
  const template: Template = {
    ...readTemplate(inject('assembly')),
    functions: Object.entries(functions).map(([name, environment]) => ({
      name,
      assetDirectory,
      handler: 'index.handler',
      timeoutSeconds: 60,
      memoryMegabytes: 128,
      environment,
    })),
    routes: Object.keys(functions).map((name) => ({
      method: 'GET',
      resource: `/${name}`,
      integration: { functionName: name, timeoutMs: 60_000 },
    })),
  };
  const lines: LogLine[] = [];
  const deployment = await deploy(template, { endpoint: 'http://127.0.0.1:9' }, (line) => lines.push(line));
  onTestFinished(async () => {
    await deployment.close();
    rmSync(assetDirectory, { recursive: true });
  });
  const invoke = (name: string) =>
    deployment.invoke({ httpMethod: 'GET', resource: `/${name}` } as APIGatewayProxyEvent);
  return { deployment, invoke, lines };
}

/** As "Using Lambda environment variables" has it, of which TZ is not reserved. */
test('a function has Lambda’s variables, nothing of this machine’s own, and its own before all', async () => {
  vi.stubEnv('AWS_PROFILE', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { invoke } = await deployed('async () => process.env', { plain: {}, own: { OWN: 'x', TZ: 'Europe/Zurich' } });
  const lambdas = {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
    AWS_REGION: 'us-east-1',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
  expect(await invoke('plain')).toEqual({ ...lambdas, AWS_LAMBDA_FUNCTION_NAME: 'plain' });
  expect(await invoke('own')).toEqual({
    ...lambdas,
    AWS_LAMBDA_FUNCTION_NAME: 'own',
    OWN: 'x',
    TZ: 'Europe/Zurich',
  });
});

test('what a function logs is passed on, and it is ended with the deployment', async () => {
  const workers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
  const before = workers();
  const { deployment, invoke, lines } = await deployed('async () => console.warn("served")', { one: {} });
  await invoke('one');
  expect(lines).toMatchObject([{ level: 'WARN', message: 'served' }]);
  expect(workers()).toBeGreaterThan(before);
  await deployment.close();
  await expect.poll(workers, { timeout: 20_000 }).toBe(before);
});
