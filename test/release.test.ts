import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { checksOfFunction } from '../checks/checks.ts';
import { operations } from '../checks/operations.generated.js';
import { lambdaEnvironment } from '../local/deploy.ts';
import { type LogLine, startFunction } from '../local/lambda.ts';
import { type FunctionConfiguration, functionBehind, readTemplate } from '../local/template.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { startFakeService } from './support/fake-service.ts';
import { FUNCTION_ARN, LIFECYCLE_EVENT, releaseEndpoints } from './support/release-endpoints.ts';

/*
 * A release up to the moment when traffic would move: the built pre-traffic hook, invoked as CodeDeploy does it, and the
 * built version that it checks, with a fake CodeDeploy and Lambda. More of the hook: checks/pre-traffic-hook.test.ts.
 */

const template = readTemplate(inject('assembly'));

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

/** Environment variables that differ from those of the stack. */
interface Changes {
  ofVersion?: Record<string, string>;
  ofHook?: Record<string, string>;
}

/** Releases a version. Returns the status that the hook reports and the log, after which no token may be left. */
async function release(operationId: string, { ofVersion, ofHook }: Changes = {}) {
  const { operation } = checksOfFunction(operationId, { expiredToken: '' });
  const hook = template.functions.find(({ environment }) => environment['OPERATION_ID'] === operationId);
  if (!hook) throw new Error(`The template has no pre-traffic hook for ${operationId}.`);
  const lines: LogLine[] = [];
  const events: APIGatewayProxyEvent[] = [];

  const endpoints = releaseEndpoints(hook.environment['FUNCTION_ARN'] ?? FUNCTION_ARN, async (event) => {
    events.push(event);
    return (await version).invoke(event);
  });
  const aws = await startFakeService((sent) => endpoints.answerTo(sent));
  const start = (configuration: FunctionConfiguration, changes?: Record<string, string>) => {
    const environment = {
      ...lambdaEnvironment(configuration.name, engine.endpoint),
      AWS_ENDPOINT_URL_CODEDEPLOY: aws,
      AWS_ENDPOINT_URL_LAMBDA: aws,
      ...configuration.environment,
      ...changes,
    };
    return startFunction({ ...configuration, environment }, (line) => lines.push(line));
  };
  const version = start(functionBehind(template, operation.method, operation.path), ofVersion);
  // A version that fails at init fails each invocation.
  version.catch(() => {});
  const checking = await start(hook, ofHook);
  await checking.invoke(LIFECYCLE_EVENT);
  await checking.close();
  await (await version.catch(() => undefined))?.close();

  const log = JSON.stringify(lines);
  const [token] = /plantstore_(?!0{43})\w{43}/.exec(JSON.stringify(events)) ?? [];
  if (token !== undefined) expect(log).not.toContain(token);
  const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: engine.accessTokensTable }));
  expect(Items.map(({ name }) => name?.S)).toEqual(['development']);
  return { status: endpoints.status(), lines, log };
}

test.each(operations)('a correct version of $operationId may take traffic', async ({ operationId }) => {
  const { status, lines, log } = await release(operationId);
  expect(status, log).toBe('Succeeded');
  expect(lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  const message = { operation: operationId, version: expect.stringMatching(/:7$/), passed: expect.any(Number) };
  expect(lines).toContainEqual(expect.objectContaining({ message }));
});

test.each<[string, Changes, string, string]>([
  [
    'has a wrong table of plants',
    { ofVersion: { PLANTS_TABLE_NAME: 'none' } },
    'a plant with an unknown token gets error 401 and is not stored',
    '"error":500',
  ],
  [
    'crashes at init',
    { ofVersion: { PLANTS_TABLE_NAME: '' } },
    'POST /plants without Authorization header gets error 401 and a WWW-Authenticate header',
    'the function failed: ',
  ],
  [
    'does not allow the origins of the stack',
    { ofHook: { ALLOW_ORIGINS: 'https://a.example,https://b.example' } },
    'pages of https://a.example can read the responses to POST /plants',
    'Access-Control-Allow-Origin',
  ],
])('a version that %s takes no traffic', async (_, changes, check, seen) => {
  const { status, lines } = await release('createPlant', changes);
  const errors = lines.filter(({ level }) => level === 'ERROR').map(({ message }) => message);
  expect(errors).toContainEqual({ check, seen: expect.stringContaining(seen) });
  expect(status).toBe('Failed');
});
