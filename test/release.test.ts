import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { checksOfFunction } from '../functions/pre-traffic-hook/all-checks.ts';
import { operations } from '../functions/pre-traffic-hook/operations.generated.js';
import { lambdaVariables, startFunction } from '../tools/local/lambda.ts';
import type { LogLine } from '../tools/local/log.ts';
import { type FunctionConfiguration, functionOfRoute } from '../tools/local/template.ts';
import { sharedTemplate } from './support/assembly.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startEngine } from './support/engine.ts';
import { startFakeService } from './support/fake-service.ts';
import { FUNCTION_ARN, LIFECYCLE_EVENT, releaseEndpoints } from './support/release-endpoints.ts';

/*
 * The built pre-traffic hook checks the built function, with a fake CodeDeploy and Lambda. The hook's own logic is tested
 * in functions/pre-traffic-hook/index.test.ts.
 */

const template = await sharedTemplate();

const engine = closedAtEnd(await startEngine(template));

/**
 * Runs the hook for a new version with these environment variables changed. Returns the reported status and the log.
 * Fails if the hook leaves a token behind.
 */
async function runHook(operationId: string, changes: Record<string, string> = {}) {
  const { operation } = checksOfFunction(operationId, { expiredToken: '' });
  const hook = template.functions.find(
    ({ environmentVariables }) => environmentVariables['OPERATION_ID'] === operationId,
  );
  if (!hook) throw new Error(`The template has no pre-traffic hook for ${operationId}.`);
  const lines: LogLine[] = [];
  const events: APIGatewayProxyEvent[] = [];

  const endpoints = releaseEndpoints(hook.environmentVariables['FUNCTION_ARN'] ?? FUNCTION_ARN, async (event) => {
    events.push(event);
    return (await version).invoke(event);
  });
  const aws = await startFakeService((sent) => endpoints.respond(sent));
  const start = (configuration: FunctionConfiguration, changed?: Record<string, string>) => {
    const environmentVariables = {
      ...lambdaVariables(configuration.name, engine.endpoint),
      AWS_ENDPOINT_URL_CODEDEPLOY: aws,
      AWS_ENDPOINT_URL_LAMBDA: aws,
      ...configuration.environmentVariables,
      ...changed,
    };
    return startFunction({ ...configuration, environmentVariables }, (line) => lines.push(line));
  };
  const version = start(functionOfRoute(template, operation.method, operation.path), changes);
  // A version that fails at init fails each invocation.
  version.catch(() => {});
  const startedHook = await start(hook);
  await startedHook.invoke(LIFECYCLE_EVENT);
  await startedHook.close();
  await (await version.catch(() => undefined))?.close();

  const log = JSON.stringify(lines);
  const [token] = /plantstore_(?!0{43})\w{43}/.exec(JSON.stringify(events)) ?? [];
  if (token !== undefined) expect(log).not.toContain(token);
  const items = await engine.items(engine.accessTokensTable);
  expect(items.map(({ name }) => name?.S)).toEqual(['development']);
  return { status: endpoints.status(), lines, log };
}

test.each(operations)('a correct version of $operationId passes the pre-traffic check', async ({ operationId }) => {
  const { status, lines, log } = await runHook(operationId);
  expect(status, log).toBe('Succeeded');
  expect(lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  expect(log).toMatch(new RegExp(`operation: '${operationId}'.*versionArn: '\\S+:7'.*passed: \\d+`));
});

test('a version that crashes at init fails the pre-traffic check', async () => {
  const { status, lines } = await runHook('createPlant', { PLANTS_TABLE_NAME: '' });
  const [error] = lines.filter(({ level, text }) => level === 'ERROR' && text.includes('check:'));
  expect(error?.text).toContain('without Authorization header');
  expect(error?.text).toContain('the function failed: ');
  expect(status).toBe('Failed');
});
