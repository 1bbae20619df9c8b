import { setTimeout as sleep } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { lambdaEnvironment } from '../local/deploy.ts';
import { type LambdaFunction, type LogLine, startFunction } from '../local/lambda.ts';
import { type FunctionConfiguration, functionBehind, readTemplate } from '../local/template.ts';
import operations from '../operate/smoke/operations.generated.json' with { type: 'json' };
import { rulesOfFunction } from '../operate/smoke/rules.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { type Fault, startFaultProxy } from './support/fault-proxy.ts';
import { LIFECYCLE_EVENT, releaseEndpoints } from './support/release-endpoints.ts';
import { openStandIn } from './support/stand-in-service.ts';

/*
 * A release up to the moment when traffic would move: the built function that CodeDeploy calls, with the event that it
 * sends, and the built version that is asked, behind stand-ins for the endpoints of CodeDeploy and Lambda.
 */

type Change = (answer: APIGatewayProxyResult, event: APIGatewayProxyEvent) => unknown;

interface Circumstances {
  /** Of the version; createPlant's by default. */
  operationId?: string;
  /** What the version makes of each of its answers; a throw is a crash. */
  change?: Change;
  /** Variables of the version that differ. */
  variables?: Record<string, string>;
  /** What goes wrong with the version's writes of plants. */
  plantsFault?: Fault;
  /** What goes wrong with all writes of tokens. */
  tokensFault?: Fault;
  /** Of the function that asks, what differs. */
  asking?: { seconds?: number; variables?: Record<string, string> };
}

const template = readTemplate(inject('assembly'));
const { PlantsTableName = '', AccessTokensTableName = '' } = template.outputs;
const CREATE_PLANT = 'createPlant';

let engine: Engine;
let database: Awaited<ReturnType<typeof startFaultProxy>>;
let aws: Awaited<ReturnType<typeof openStandIn>>;
let soundVersion: LambdaFunction;
let soundAsker: LambdaFunction;
/** Of the release that a test is about. */
let endpoints: ReturnType<typeof releaseEndpoints>;
let lines: LogLine[] = [];
beforeAll(async () => {
  engine = await startEngine();
  database = await startFaultProxy(engine.endpoint);
  aws = await openStandIn((sent) => endpoints.answerTo(sent));
  const { version, asker } = functionsOf(CREATE_PLANT);
  [soundVersion, soundAsker] = await Promise.all([start(version), start(asker)]);
});
afterAll(async () => {
  await Promise.all([soundVersion.close(), soundAsker.close()]);
  aws.close();
  database.close();
  await engine.close();
});

/** The function of an operation, and the one that asks its new versions. */
function functionsOf(operationId: string) {
  const { operation } = rulesOfFunction(operationId);
  const asker = template.functions.find(({ environment }) => environment['OPERATION_ID'] === operationId);
  if (!asker) throw new Error(`The template has no function that asks a new version of ${operationId}.`);
  return { asker, version: functionBehind(template, operation.method, operation.path) };
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

/** Releases a version. Returns what CodeDeploy is told, what was logged, and the events that the version got. */
async function release(circumstances: Circumstances) {
  const { operationId = CREATE_PLANT, change, plantsFault, tokensFault } = circumstances;
  const { version, asker } = functionsOf(operationId);
  // Those that are shared are createPlant's as they are.
  const { variables, asking } = operationId === CREATE_PLANT ? circumstances : { variables: {}, asking: {} };
  lines = [];
  const events: APIGatewayProxyEvent[] = [];
  const asked = variables ? start(version, variables) : Promise.resolve(soundVersion);
  // One that fails at init is a crash of each invocation.
  asked.catch(() => {});
  endpoints = releaseEndpoints(String(asker.environment['FUNCTION_VERSION_ARN']), async (event) => {
    events.push(event);
    const answer = JSON.parse(await (await asked).invoke(JSON.stringify(event)));
    return change ? change(answer, event) : answer;
  });
  const by = asking
    ? await start({ ...asker, timeoutSeconds: asking.seconds ?? asker.timeoutSeconds }, asking.variables)
    : soundAsker;
  const faults = { times: Number.POSITIVE_INFINITY, applied: false };
  database.plan(
    ...(plantsFault ? [{ call: `PutItem ${PlantsTableName}`, fault: plantsFault, ...faults }] : []),
    ...(tokensFault ? [{ call: `PutItem ${AccessTokensTableName}`, fault: tokensFault, ...faults }] : []),
  );
  try {
    await by.invoke(JSON.stringify(LIFECYCLE_EVENT));
  } finally {
    database.plan();
    if (asking) await by.close();
    if (variables) await (await asked.catch(() => undefined))?.close();
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

test.each(operations)('a sound version of $operationId may take traffic', async ({ operationId }) => {
  const { status, lines, events, log } = await release({ operationId });
  expect(status, log).toBe('Succeeded');
  expect(lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  const ok = rulesOfFunction(operationId).rules.length;
  expect(lines).toContainEqual(
    expect.objectContaining({ message: expect.objectContaining({ operation: operationId, ok, taken: 0, failed: 0 }) }),
  );
  expect(await namesOfTokens()).toEqual(['development']);
  expect(log).not.toContain(tokenOf(events));
});

const JSON_TYPE = { 'content-type': 'application/json' };

const saying =
  (change: (body: string) => string): Change =>
  (answer) => ({ ...answer, body: change(answer.body) });

/** Answers otherwise where the sound version answers an error. */
const insteadOf =
  (error: number, statusCode: number, body: object): Change =>
  (answer) =>
    answer.body.includes(`"error":${error}`) ? { statusCode, headers: JSON_TYPE, body: JSON.stringify(body) } : answer;

const answerOf = (error: number) => ({
  statusCode: 400,
  headers: JSON_TYPE,
  body: JSON.stringify({ error, message: 'x' }),
});

const bodyOf = ({ body }: APIGatewayProxyEvent) => Buffer.from(body ?? '', 'base64').toString();

test.each<[string, Circumstances, string, string]>([
  [
    'has a wrong table of plants',
    { variables: { PLANTS_TABLE_NAME: 'none' } },
    'a plant is a 200, and again',
    '"error":500',
  ],
  [
    'has a wrong table of tokens',
    { variables: { ACCESS_TOKENS_TABLE_NAME: 'none' } },
    'a plant is a 200, and again',
    '"error":500',
  ],
  ['may not write plants', { plantsFault: 'refuses access' }, 'a plant is a 200, and again', '"error":500'],
  [
    'does not reach the database',
    { variables: { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' } },
    'a plant is a 200, and again',
    '"error":503',
  ],
  ['crashes at init', { variables: { PLANTS_TABLE_NAME: '' } }, 'a plant is a 200, and again', 'the function failed: '],
  [
    'crashes at some plants',
    {
      change: (answer, event) => {
        if (bodyOf(event).includes('植物')) throw new Error('no such plant');
        return answer;
      },
    },
    'any Unicode in name and tag is a 200, and again',
    'the function failed: {"errorType":"Error","errorMessage":"no such plant"}',
  ],
  [
    'answers with status 201',
    { change: (answer) => ({ ...answer, statusCode: answer.statusCode === 200 ? 201 : 400 }) },
    'a plant is a 200, and again',
    '201, application/json, {"name":"smoke","tag":"check"}; it must be 200',
  ],
  [
    'tells the id',
    { change: saying((body) => body.replace('{"name"', '{"id":1,"name"')) },
    'a plant is a 200, and again',
    '{"id":1,"name":"smoke","tag":"check"}; it must be 200 with a Plant (name, tag)',
  ],
  [
    'does not see a conflict',
    { change: insteadOf(409, 200, { name: 'second' }) },
    'a different plant under an id in use is error 409, and changes nothing',
    'it must be {"status":400,"error":409}',
  ],
  [
    'lets any token in',
    { change: insteadOf(401, 200, { name: 'smoke' }) },
    'POST /plants with an unknown token, which is not told back, is error 401, its challenge a Bearer realm with error="invalid_token"',
    'it must be {"status":400,"error":401}',
  ],
  [
    'takes any media type',
    { change: insteadOf(415, 400, { error: 400, message: 'The id is missing.' }) },
    'POST /plants with the Content-Type text/plain is error 415',
    'it must be {"status":400,"error":415}',
  ],
  [
    'answers what the gateway would not pass on',
    { change: () => null },
    'a plant is a 200, and again',
    'null; it must be a proxy response',
  ],
  [
    'tells the token',
    {
      change: ({ body, ...answer }, { headers }) => ({
        ...answer,
        body: body.replace('"message":"', `"message":"${headers['Authorization']} `),
      }),
    },
    'an empty object is error 400, its message names id and name',
    'the token stands in the answer; it must not',
  ],
  [
    'reads header names in lower case alone',
    { change: (answer, { headers }) => (headers['content-type'] ? answer : answerOf(415)) },
    'a plant is a 200, and again',
    '"error":415',
  ],
  [
    'is throttled each time',
    { change: () => answerOf(429), asking: { seconds: 21 } },
    'a plant is a 200, and again',
    'the time was up before it was answered',
  ],
  [
    'hangs',
    { change: () => new Promise(() => {}), asking: { seconds: 21 } },
    'a plant is a 200, and again',
    'the time was up before it was answered',
  ],
  [
    'is slow',
    { change: (answer) => sleep(2000, answer), asking: { seconds: 21 } },
    'a plant is a 200, and again',
    'the time was up before it was answered',
  ],
])('a version that %s takes no traffic', async (_, circumstances, rule, seen) => {
  const { status, lines, events, log } = await release(circumstances);
  const said = lines.filter(({ level }) => level === 'ERROR').map(({ message }) => message as object);
  expect(said).toContainEqual({ rule, seen: expect.stringContaining(seen) });
  expect(status).toBe('Failed');
  expect(await namesOfTokens()).toEqual(['development']);
  expect(log).not.toContain(tokenOf(events));
});

test('a version is let pass while the database is down, since nothing can be told of it', async () => {
  const { status, log } = await release({ tokensFault: 'answers 500', plantsFault: 'answers 500' });
  expect(log).toContain('The database is down');
  expect(status).toBe('Succeeded');
});

test('no version is let pass where no token can be issued', async () => {
  const { status, log } = await release({ tokensFault: 'refuses access' });
  expect(log).toContain('AccessDeniedException');
  expect(status).toBe('Failed');
});

test('no version is let pass where what asks it crashes', async () => {
  const { status, log } = await release({ asking: { variables: { OPERATION_ID: 'none' } } });
  expect(log).toContain('none is no operation of the contract.');
  expect(status).toBe('Failed');
  expect(await namesOfTokens()).toEqual(['development']);
});
