import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { checksOfFunction } from '../checks/checks.ts';
import { operations } from '../checks/operations.generated.js';
import { lambdaEnvironment } from '../local/deploy.ts';
import { type LambdaFunction, type LogLine, startFunction } from '../local/lambda.ts';
import { type FunctionConfiguration, functionBehind, readTemplate } from '../local/template.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { type Fault, startFaultProxy } from './support/fault-proxy.ts';
import { FUNCTION_ARN, LIFECYCLE_EVENT, releaseEndpoints, TARGET } from './support/release-endpoints.ts';
import { openStandIn } from './support/stand-in-service.ts';

/*
 * A release up to the moment when traffic would move: the built pre-traffic hook, invoked as CodeDeploy does it, and the
 * built version that it checks, with stand-ins for the endpoints of CodeDeploy and Lambda.
 */

interface Circumstances {
  /** Default: createPlant. */
  operationId?: string;
  /** Environment variables of the new version that differ. */
  variables?: Record<string, string>;
  /** What goes wrong with all writes of plants. */
  plantsFault?: Fault;
  /** What goes wrong with the writes of tokens; an outage, with the reads too. */
  tokensFault?: Fault;
  /** Environment variables of the hook that differ. */
  hookVariables?: Record<string, string>;
}

const template = readTemplate(inject('assembly'));
const { PlantsTableName = '', AccessTokensTableName = '' } = template.outputs;
const CREATE_PLANT = 'createPlant';

let engine: Engine;
let database: Awaited<ReturnType<typeof startFaultProxy>>;
let aws: Awaited<ReturnType<typeof openStandIn>>;
/** The function as it is, and its hook. */
let correctVersion: LambdaFunction;
let hook: LambdaFunction;
/** The endpoints for the release that a test is about. */
let endpoints: ReturnType<typeof releaseEndpoints>;
let lines: LogLine[] = [];
beforeAll(async () => {
  engine = await startEngine();
  database = await startFaultProxy(engine.endpoint);
  aws = await openStandIn((sent) => endpoints.answerTo(sent));
  const functions = functionsOf(CREATE_PLANT);
  [correctVersion, hook] = await Promise.all([start(functions.version), start(functions.hook)]);
});
afterAll(async () => {
  await Promise.all([correctVersion.close(), hook.close()]);
  aws.close();
  database.close();
  await engine.close();
});

/** The function of an operation, and the hook that checks its new versions. */
function functionsOf(operationId: string) {
  const { operation } = checksOfFunction(operationId, { expiredToken: '' });
  const hook = template.functions.find(({ environment }) => environment['OPERATION_ID'] === operationId);
  if (!hook) throw new Error(`The template has no pre-traffic hook for ${operationId}.`);
  return { hook, version: functionBehind(template, operation.method, operation.path) };
}

function start(configuration: FunctionConfiguration, variables?: Record<string, string>): Promise<LambdaFunction> {
  const environment = {
    ...lambdaEnvironment(configuration.name, database.endpoint),
    AWS_ENDPOINT_URL_CODEDEPLOY: aws.url,
    AWS_ENDPOINT_URL_LAMBDA: aws.url,
    ...configuration.environment,
    ...variables,
  };
  return startFunction({ ...configuration, environment }, (line) => lines.push(line));
}

/** Releases a version. Returns what the hook reports, what is logged, and the events that the new version gets. */
async function release({ operationId = CREATE_PLANT, ...circumstances }: Circumstances = {}) {
  const { variables, plantsFault, tokensFault, hookVariables } = circumstances;
  const functions = functionsOf(operationId);
  lines = [];
  const events: APIGatewayProxyEvent[] = [];
  const own: Promise<LambdaFunction>[] = [];
  const started = (configuration: FunctionConfiguration, changes?: Record<string, string>) => {
    own.push(start(configuration, changes));
    return own.at(-1) as Promise<LambdaFunction>;
  };
  const isOther = operationId !== CREATE_PLANT;
  const current = isOther ? started(functions.version) : Promise.resolve(correctVersion);
  const target = variables ? started(functions.version, variables) : current;
  const checking = isOther || hookVariables ? started(functions.hook, hookVariables) : Promise.resolve(hook);
  // A version that fails at init fails each invocation.
  for (const each of own) each.catch(() => {});
  const arn = functions.hook.environment['FUNCTION_ARN'] ?? FUNCTION_ARN;
  endpoints = releaseEndpoints(arn, async (event, version) => {
    if (version === TARGET) events.push(event);
    return await (await (version === TARGET ? target : current)).invoke(event);
  });
  const faults = { times: Number.POSITIVE_INFINITY, applied: false };
  database.plan(
    ...(plantsFault ? [{ call: `PutItem ${PlantsTableName}`, fault: plantsFault, ...faults }] : []),
    ...(tokensFault ? [{ call: `PutItem ${AccessTokensTableName}`, fault: tokensFault, ...faults }] : []),
    ...(tokensFault === 'answers 500'
      ? [{ call: `GetItem ${AccessTokensTableName}`, fault: tokensFault, ...faults }]
      : []),
  );
  try {
    await (await checking).invoke(LIFECYCLE_EVENT);
  } finally {
    database.plan();
    for (const each of own) await (await each.catch(() => undefined))?.close();
  }
  return { status: endpoints.status(), lines, events, log: JSON.stringify(lines) };
}

async function namesOfTokens(): Promise<(string | undefined)[]> {
  const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: AccessTokensTableName }));
  return Items.map(({ name }) => name?.S);
}

/** The token that a release was given, of which nothing may be left anywhere. */
function tokenOf(events: APIGatewayProxyEvent[]): string {
  const [token = 'no token'] = /plantstore_(?!0{43})\w{43}/.exec(JSON.stringify(events)) ?? [];
  return token;
}

test.each(operations)('a correct version of $operationId may take traffic', async ({ operationId }) => {
  const { status, lines, events, log } = await release({ operationId });
  expect(status, log).toBe('Succeeded');
  expect(lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  const message = { operation: operationId, version: expect.stringMatching(/:7$/), passed: expect.any(Number) };
  expect(lines).toContainEqual(expect.objectContaining({ message }));
  expect(await namesOfTokens()).toEqual(['development']);
  expect(log).not.toContain(tokenOf(events));
});

const WITH_TOKEN = 'a plant with an unknown token is error 401, and not stored';
const FIRST = 'POST /plants without Authorization header is error 401, with a challenge';

test.each<[string, Circumstances, string, string]>([
  ['has a wrong table of plants', { variables: { PLANTS_TABLE_NAME: 'none' } }, WITH_TOKEN, '"error":500'],
  [
    'has a wrong table of tokens',
    { variables: { ACCESS_TOKENS_TABLE_NAME: 'none' } },
    'POST /plants with an unknown token is error 401, with a challenge',
    '"error":500',
  ],
  ['may not write plants', { plantsFault: 'refuses access' }, WITH_TOKEN, '"error":500'],
  [
    'does not reach the database',
    { variables: { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' } },
    'POST /plants with an unknown token is error 401, with a challenge',
    '"error":503',
  ],
  ['crashes at init', { variables: { PLANTS_TABLE_NAME: '' } }, FIRST, 'the function failed: '],
])('a version that %s takes no traffic', async (_, circumstances, check, seen) => {
  const { status, lines, events, log } = await release(circumstances);
  const errors = lines.filter(({ level }) => level === 'ERROR').map(({ message }) => message as object);
  expect(errors).toContainEqual({ check, seen: expect.stringContaining(seen) });
  expect(status).toBe('Failed');
  expect(await namesOfTokens()).toEqual(['development']);
  expect(log).not.toContain(tokenOf(events));
});

test.each<[string, Circumstances]>([
  ['the tokens', { tokensFault: 'answers 500' }],
  ['the plants, for the current version too', { plantsFault: 'throttles' }],
])('a version passes while the database is unavailable for %s', async (_, circumstances) => {
  const { status, log } = await release(circumstances);
  expect(log).toContain('The database is unavailable');
  expect(status, log).toBe('Succeeded');
  expect(await namesOfTokens()).toEqual(['development']);
});

test.each<[string, Circumstances, string]>([
  ['cannot issue a token', { tokensFault: 'refuses access' }, 'AccessDeniedException'],
  ['fails', { hookVariables: { OPERATION_ID: 'none' } }, 'openapi.yaml has no operation none.'],
])('no version passes if the hook %s', async (_, circumstances, seen) => {
  const { status, log } = await release(circumstances);
  expect(log).toContain(seen);
  expect(status).toBe('Failed');
  expect(await namesOfTokens()).toEqual(['development']);
});

test('a version passes the checks of origins and of JWTs that the stack asks for', async () => {
  const variables = { ALLOW_ORIGINS: 'https://a.example,https://b.example' };
  const allowed = await release({ variables, hookVariables: variables });
  expect(allowed.status, allowed.log).toBe('Succeeded');
  const refused = await release({ hookVariables: variables });
  expect(refused.log).toContain('pages of https://a.example can read the responses to POST /plants');
  expect(refused.status).toBe('Failed');
});
