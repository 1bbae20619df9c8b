import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { deploy } from './deploy.ts';
import type { LogLine } from './lambda.ts';
import { readTemplate } from './template.ts';

/** "Using Lambda environment variables". */
test('gives a function Lambda’s variables and its own, none of this machine, and passes on its log', async () => {
  vi.stubEnv('AWS_PROFILE', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  const assetDirectory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  onTestFinished(() => rmSync(assetDirectory, { recursive: true }));
  const handler = 'async () => { console.warn("served"); return process.env; }';
  writeFileSync(join(assetDirectory, 'index.mjs'), `export const handler = ${handler};`);
  const environments: Record<string, Record<string, string>> = { plain: {}, own: { OWN: 'x', TZ: 'Europe/Zurich' } };
  const functions = Object.entries(environments).map(([name, environment]) => ({
    ...{ name, assetDirectory, handler: 'index.handler', timeoutSeconds: 60, memoryMegabytes: 128, environment },
  }));
  const routes = functions.map(({ name }) => ({
    ...{ method: 'GET', resource: `/${name}`, integration: { functionName: name, timeoutMs: 60_000 } },
  }));
  const template = { ...readTemplate(inject('assembly')), functions, routes };
  const lines: LogLine[] = [];
  const { invoke, close } = await deploy(template, { endpoint: 'http://127.0.0.1:9' }, (line) => lines.push(line));
  onTestFinished(close);

  const eventOf = (resource: string) => ({ httpMethod: 'GET', resource }) as APIGatewayProxyEvent;
  const plain = {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
    AWS_LAMBDA_FUNCTION_NAME: 'plain',
    AWS_REGION: 'us-east-1',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
  expect(await invoke(eventOf('/plain'))).toEqual(plain);
  expect(await invoke(eventOf('/own'))).toEqual({ ...plain, AWS_LAMBDA_FUNCTION_NAME: 'own', ...environments['own'] });
  expect(lines).toMatchObject(Array(2).fill({ level: 'WARN', message: 'served' }));
  await expect(invoke(eventOf('/none'))).rejects.toThrow('GET /none is not a route to a function of the stack.');
});
