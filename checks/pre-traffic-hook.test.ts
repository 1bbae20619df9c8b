import { type AttributeValue, DeleteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../functions/shared/access-tokens/token.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { contextWith } from '../test/support/event.ts';
import { type FakeResponse, type Sent, startFakeService } from '../test/support/fake-service.ts';
import { type Plan, startFaultProxy } from '../test/support/fault-proxy.ts';
import {
  CURRENT,
  DEPLOYMENT,
  FUNCTION_ARN,
  LIFECYCLE_EVENT,
  releaseEndpoints,
  TARGET,
  VERSION_ARN,
} from '../test/support/release-endpoints.ts';

let engine: Engine;
let correctVersion: (event: APIGatewayProxyEvent) => Promise<unknown>;
beforeAll(async () => {
  engine = await startEngine();
  const { handler } = await import('../functions/create-plant/index.ts');
  correctVersion = (event) => handler(event as never, contextWith());
});
afterAll(() => engine.close());
beforeEach(() => {
  // The SDK waits a random time before it repeats a call.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

interface Circumstances {
  /** Handles an event as the given version of the function would. */
  version?: (event: APIGatewayProxyEvent, version: number) => unknown;
  /** Replaces members of the deployment that CodeDeploy describes. */
  deployment?: object;
  variables?: Record<string, string>;
  /** The fault of one action on the table of tokens. */
  tokensFault?: Pick<Plan, 'fault'> & { action: string };
  /** The error response of Lambda or CodeDeploy to a request; `undefined` for none. */
  refusal?: (sent: Sent) => FakeResponse | Promise<FakeResponse> | undefined;
  remainingMs?: number;
}

/** Runs the hook. Returns the status that it reports, what it logs, and the events that the target version gets. */
async function runHook({ version, deployment, ...others }: Circumstances = {}) {
  const { variables, tokensFault, refusal, remainingMs = 60_000 } = others;
  const events: APIGatewayProxyEvent[] = [];
  const respond = (event: APIGatewayProxyEvent, number: number) => {
    // The handler in this process changes what it is given.
    if (number === TARGET) events.push(structuredClone(event));
    return (version ?? correctVersion)(event, number);
  };
  const endpoints = releaseEndpoints(FUNCTION_ARN, respond, { ...DEPLOYMENT, ...deployment });
  const aws = await startFakeService((sent) => refusal?.(sent) ?? endpoints.answerTo(sent));
  const database = await startFaultProxy(engine.endpoint);
  onTestFinished(() => database.close());
  if (tokensFault) {
    const { action, fault } = tokensFault;
    database.plan({ call: `${action} ${engine.accessTokensTable}`, fault, times: 9, applied: false });
  }
  const all = {
    OPERATION_ID: 'createPlant',
    FUNCTION_ARN,
    AWS_ENDPOINT_URL_LAMBDA: aws,
    AWS_ENDPOINT_URL_CODEDEPLOY: aws,
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    ...variables,
  };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const log: object[] = [];
  for (const level of ['info', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line) => {
      // The version logs in this process too.
      if (!('outcome' in line)) log.push({ level, ...line });
    });
  }
  vi.resetModules();
  const { handler } = await import('./pre-traffic-hook.ts');
  const thrown = await handler(LIFECYCLE_EVENT, contextWith(remainingMs)).catch((error: Error) => error);
  return { status: thrown ? thrown.message : endpoints.status(), log, events, tokens: await issued() };
}

const FIRST_CHECK = 'POST /plants without Authorization header is error 401, with a challenge';

/** CodeDeploy refuses an action. */
const ofCodeDeploy =
  (action: string, message: string): NonNullable<Circumstances['refusal']> =>
  ({ headers }) =>
    headers['x-amz-target'] === `CodeDeploy_20141006.${action}`
      ? { status: 400, headers: {}, body: JSON.stringify({ __type: 'X', message }) }
      : undefined;

/** The items of all tokens but that of the local run. */
async function issued() {
  const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: engine.accessTokensTable }));
  return Items.filter(({ name }) => name?.S !== 'development');
}

/** The token that a release was given. */
function tokenOf(event: APIGatewayProxyEvent | undefined): string {
  const { Authorization, authorization = Authorization } = event?.headers ?? {};
  return String(authorization).replace('Bearer ', '');
}

test('a correct version passes with tokens of the hook, which are deleted', async () => {
  const during: Record<string, AttributeValue>[] = [];
  const startedAt = Math.floor(Date.now() / 1000);
  const { status, log, events, tokens } = await runHook({
    version: async (event) => {
      if (during.length === 0) during.push(...(await issued()));
      return correctVersion(event);
    },
  });
  const [valid, expired] = during.toSorted((a, b) => String(a['name']?.S).localeCompare(String(b['name']?.S)));
  expect(valid).toMatchObject({ name: { S: 'release-d-ABCDEF123' } });
  expect(events.map(tokenOf).map(digestOf)).toContain(valid?.['digest']?.S);
  // It is valid for as long as the hook may run, and no longer.
  const secondsLeft = Number(valid?.['expiresAt']?.N) - startedAt;
  expect(secondsLeft).toBeGreaterThanOrEqual(60);
  expect(secondsLeft).toBeLessThan(120);
  expect(expired).toMatchObject({ name: { S: 'release-d-ABCDEF123-expired' } });
  expect(Number(expired?.['expiresAt']?.N)).toBeLessThan(startedAt);
  expect({ status, tokens }).toEqual({ status: 'Succeeded', tokens: [] });
  expect(log).toEqual([{ level: 'info', operation: 'createPlant', version: VERSION_ARN, passed: expect.any(Number) }]);
});

test('plants of clients do not stop a correct version, and a broken one does not change them', async () => {
  for (const id of [0n, 1n, 7n, 100n, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n)]) {
    const Item = { id: { N: String(id) }, name: { S: 'of a client' } };
    await engine.client.send(new PutItemCommand({ TableName: engine.plantsTable, Item }));
  }
  const plants = async () => (await engine.client.send(new ScanCommand({ TableName: engine.plantsTable }))).Items ?? [];
  const before = await plants();
  expect(await runHook()).toMatchObject({ status: 'Succeeded' });
  const { status } = await runHook({
    // Accepts every request, and overwrites plants.
    version: async (event) => {
      const [id] = /(?<="id":)-?\d+/.exec(Buffer.from(event.body ?? '', 'base64').toString()) ?? [];
      const Item = { id: { N: String(id) }, name: { S: 'overwritten' } };
      if (id !== undefined) await engine.client.send(new PutItemCommand({ TableName: engine.plantsTable, Item }));
      return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"name":"check"}' };
    },
  });
  expect(status).toBe('Failed');
  expect(await plants()).toEqual(expect.arrayContaining(before));
});

test('a version that fails a check is sent nothing more, and the log has the check and what was seen', async () => {
  const { status, log, events, tokens } = await runHook({
    version: (event) =>
      Object.values(event.headers).includes('text/plain')
        ? { statusCode: 200, headers: {}, body: 'x' }
        : correctVersion(event),
  });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toEqual([
    {
      level: 'error',
      check: 'POST /plants with the Content-Type text/plain is error 415',
      seen: '200, no Content-Type, x; the Content-Type must be application/json',
    },
  ]);
  expect(Object.values(events.at(-1)?.headers ?? {})).toContain('text/plain');
});

test.each<[string, (token: string, event: APIGatewayProxyEvent) => string]>([
  ['the token', (token) => token],
  ['a part of the token', (token) => token.slice(0, -5)],
  ['its digest', (token) => digestOf(token)],
  ['its digest in base64', (token) => Buffer.from(digestOf(token), 'hex').toString('base64')],
  ['the event in base64', (_, event) => Buffer.from(JSON.stringify(event.headers)).toString('base64')],
])('does not log what a version shows of %s', async (_, said) => {
  const told: string[] = [];
  const { status, log, events } = await runHook({
    version: (event) => {
      if (!tokenOf(event).startsWith('plantstore_')) return correctVersion(event);
      told.push(said(tokenOf(event), event));
      throw new Error(`at index.mjs:7, for ${told.at(-1)} sent`);
    },
  });
  expect(status).toBe('Failed');
  const whole = JSON.stringify(log);
  expect(whole).toContain('at index.mjs:7, for ...');
  const parts = (text: string) => Array.from({ length: text.length - 31 }, (_, at) => text.slice(at, at + 32));
  expect([...told, tokenOf(events.at(-1))].flatMap(parts).filter((part) => whole.includes(part))).toEqual([]);
});

test('a version that does not respond fails when the time is up, in time to delete the tokens', async () => {
  const { status, log, tokens } = await runHook({ version: () => new Promise(() => {}), remainingMs: 20_500 });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toEqual([{ level: 'error', check: FIRST_CHECK, seen: 'the check did not end in time' }]);
});

test.each<[string, Circumstances, string]>([
  ['has no operation', { variables: { OPERATION_ID: '' } }, 'Error: The environment variable OPERATION_ID is missing'],
  ['has no function', { variables: { FUNCTION_ARN: '' } }, 'Error: The environment variable FUNCTION_ARN is missing'],
  ['has an unknown operation', { variables: { OPERATION_ID: 'x' } }, 'Error: openapi.yaml has no operation x.'],
  [
    'has no table of tokens',
    { variables: { ACCESS_TOKENS_TABLE_NAME: '' } },
    'Error: The environment variable ACCESS_',
  ],
  ['may not issue a token', { tokensFault: { action: 'PutItem', fault: 'refuses access' } }, 'AccessDeniedException: '],
  ['may not read the deployment', { refusal: ofCodeDeploy('GetDeployment', 'not you') }, 'X: not you'],
  [
    'finds no versions in the deployment',
    { deployment: { revision: { string: { content: '{"version":0}' } } } },
    'Error: The deployment has no currentversion in its AppSpec: {"version":0}',
  ],
])('a hook that %s reports a failure and logs why', async (_, circumstances, seen) => {
  const { status, log, events, tokens } = await runHook(circumstances);
  expect({ status, events, tokens }).toEqual({ status: 'Failed', events: [], tokens: [] });
  const message = 'The new version could not be checked.';
  expect(log).toEqual([{ level: 'error', message, seen: expect.stringContaining(seen) }]);
});

/** The pause before a repeated request takes no time. */
vi.mock('node:timers/promises', async (original) => {
  const { setTimeout: sleep } = await original<typeof import('node:timers/promises')>();
  return { setTimeout: (_ms: number, value: undefined, options: object) => sleep(0, value, options) };
});

const versionsIn = (content: string) => ({ revision: { revisionType: 'String', string: { content } } });

test('reads the versions from an AppSpec in YAML too', async () => {
  const deployment = versionsIn(`Properties:\n  currentversion: "${CURRENT}"\n  targetversion: ${TARGET}\n`);
  expect(await runHook({ deployment })).toMatchObject({ status: 'Succeeded', log: [{ version: VERSION_ARN }] });
});

test.each<[string, object]>([
  ['of CodeDeploy', { creator: 'codeDeployRollback' }],
  ['to a version with a lower number', versionsIn('{"CurrentVersion":"10","TargetVersion":"9"}')],
])('a rollback %s is not checked', async (_, deployment) => {
  const { status, log, events } = await runHook({ deployment, version: () => null });
  expect({ status, events }).toEqual({ status: 'Succeeded', events: [] });
  expect(log).toEqual([{ level: 'info', message: 'A rollback is not checked.', deploymentId: 'd-ABCDEF123' }]);
});

/** Lambda refuses an invocation. */
const ofLambda = (status: number, type: string, message: string) => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: JSON.stringify({ message }),
});

test('a hook that may not invoke the version reports a failure and logs why', async () => {
  const { status, log, tokens } = await runHook({
    refusal: ({ path }) =>
      path.endsWith('/invocations') ? ofLambda(403, 'AccessDeniedException', 'not you') : undefined,
  });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toContainEqual({ level: 'error', check: FIRST_CHECK, seen: 'not you' });
});

test('an invocation that Lambda throttles is repeated', async () => {
  let invocations = 0;
  const { status } = await runHook({
    refusal: ({ path }) => {
      if (!path.endsWith('/invocations')) return undefined;
      invocations += 1;
      return invocations <= 5 ? ofLambda(429, 'TooManyRequestsException', '') : undefined;
    },
  });
  expect(status).toBe('Succeeded');
});

test.each(['throttles', 'answers 500', 'resets the connection'] as const)(
  'a version passes unchecked if the table of tokens %s for the current version too',
  async (fault) => {
    const { status, log, events, tokens } = await runHook({
      tokensFault: { action: 'PutItem', fault },
      version: () => unavailable(503),
    });
    expect({ status, events, tokens }).toEqual({ status: 'Succeeded', events: [], tokens: [] });
    const message = 'The database is unavailable, so the new version is not checked.';
    expect(log).toEqual([{ level: 'warn', message, seen: expect.stringContaining('The database') }]);
  },
);

test('a version fails if only the hook does not reach the database, as the new version may not', async () => {
  const { status, log } = await runHook({ tokensFault: { action: 'PutItem', fault: 'answers 500' } });
  expect(status).toBe('Failed');
  expect(log).toEqual([expect.objectContaining({ message: 'The new version could not be checked.' })]);
});

const unavailable = (error: number) => ({
  statusCode: 400,
  headers: { 'content-type': 'application/json', 'retry-after': '0' },
  body: `{"error":${error},"message":"x"}`,
});

test.each([429, 503, 504])(
  'a version passes if it responds with error %i, and the current one does too',
  async (error) => {
    const { status, log, tokens } = await runHook({
      version: (event, version) => unavailable(version === TARGET && !tokenOf(event).includes('000') ? error : 503),
    });
    expect({ status, tokens }).toEqual({ status: 'Succeeded', tokens: [] });
    const message = 'The database is unavailable, so the new version is not checked.';
    expect(log).toEqual([{ level: 'warn', message, seen: expect.stringContaining('"error"') }]);
  },
);

test.each([429, 503, 504])('a version fails if only it responds with error %i', async (error) => {
  const { status, log } = await runHook({
    version: (event, version) => (version === TARGET ? unavailable(error) : correctVersion(event)),
  });
  expect(status).toBe('Failed');
  expect(log).toEqual([{ level: 'error', check: FIRST_CHECK, seen: expect.stringContaining(`"error":${error}`) }]);
});

test('a version passes if it finds the database unavailable only four times', async () => {
  let times = 0;
  const { status } = await runHook({
    version: (event, version) => {
      if (version === CURRENT) return correctVersion(event);
      times += 1;
      return times <= 4 ? unavailable(503) : correctVersion(event);
    },
  });
  expect(status).toBe('Succeeded');
});

test('a version passes while the identity provider is down', async () => {
  const { status } = await runHook({
    version: (event) => {
      const body = '{"error":503,"message":"The identity provider did not respond."}';
      return tokenOf(event).includes('.') ? { ...unavailable(503), body } : correctVersion(event);
    },
  });
  expect(status).toBe('Succeeded');
});

test('a token that cannot be deleted is logged by its name, and the result stays', async () => {
  const { status, log, tokens } = await runHook({ tokensFault: { action: 'DeleteItem', fault: 'refuses access' } });
  for (const { digest = { S: '' } } of tokens) {
    await engine.client.send(new DeleteItemCommand({ TableName: engine.accessTokensTable, Key: { digest } }));
  }
  expect({ status, left: tokens.length }).toEqual({ status: 'Succeeded', left: 2 });
  const message = 'The token release-d-ABCDEF123 could not be deleted; it expires.';
  expect(log).toContainEqual({ level: 'error', message, seen: expect.any(String) });
});

test('the hook fails if it cannot report, after its tokens are deleted', async () => {
  const { status, tokens } = await runHook({
    version: () => null,
    refusal: ofCodeDeploy('PutLifecycleEventHookExecutionStatus', 'no such deployment'),
  });
  expect({ status, tokens }).toEqual({ status: 'no such deployment', tokens: [] });
});

test('the report is repeated if CodeDeploy does not respond', async () => {
  let calls = 0;
  const { status } = await runHook({
    version: () => null,
    refusal: ({ headers }) => {
      if (!String(headers['x-amz-target']).endsWith('ExecutionStatus')) return undefined;
      calls += 1;
      return calls === 1 ? new Promise(() => {}) : undefined;
    },
  });
  expect({ status, calls }).toEqual({ status: 'Failed', calls: 2 });
});
