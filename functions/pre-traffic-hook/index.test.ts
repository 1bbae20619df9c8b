import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { brokenVersions, startVersions, stubResponseLimit } from '../../test/support/broken-versions.ts';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { type Plan, startFailureProxy } from '../../test/support/dynamodb-proxy.ts';
import { contextWith, sampleEvent } from '../../test/support/event.ts';
import { type FakeResponse, type ReceivedRequest, startFakeService } from '../../test/support/fake-service.ts';
import { LIFECYCLE_EVENT, releaseEndpoints, VERSION_ARN } from '../../test/support/release-endpoints.ts';
import { digestOf } from '../shared/access-tokens/token.ts';
import { allChecks } from './all-checks.ts';

vi.mock('node:timers/promises', { spy: true });

const { engine, invoke } = await startVersions();
closedAtEnd(engine);
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

interface Setup {
  /** Handles an event as the new version. @default a correct version */
  version?: (event: APIGatewayProxyEvent, validToken: string) => unknown;
  /** The creator of the deployment. @default user */
  creator?: string;
  /** Replaces environment variables. */
  variables?: Record<string, string>;
  /** A failure of one action on the token table. */
  tokensFailure?: Pick<Plan, 'failure'> & { action: string };
  /** Returns the error response of Lambda or CodeDeploy to a request. @default none */
  awsError?: (sent: ReceivedRequest) => FakeResponse | undefined;
  /** Milliseconds until the hook times out. @default 60,000 */
  remainingMs?: number;
}

const tokenOf = ({ headers }: APIGatewayProxyEvent) => String(headers['Authorization']).replace(/^bearer /i, '');

/** Runs the hook. Returns its status, its log, the events of the version, and the tokens that are left. */
async function runHook({ version = invoke, creator, variables, tokensFailure, awsError, remainingMs }: Setup = {}) {
  const events: APIGatewayProxyEvent[] = [];
  const endpoints = releaseEndpoints((event) => {
    events.push(event);
    // The first check has a valid token.
    return version(event, tokenOf(events[0] ?? event));
  }, creator);
  const aws = await startFakeService((sent) => awsError?.(sent) ?? endpoints.respond(sent));
  const database = await startFailureProxy(engine.endpoint);
  onTestFinished(() => database.close());
  if (tokensFailure) {
    const { action, failure } = tokensFailure;
    database.plan({ call: `${action} ${engine.accessTokensTable}`, failure, times: 9, applied: false });
  }
  const all = {
    OPERATION_ID: 'createPlant',
    RESOURCE_PATH: '/plants',
    NEW_VERSION_ARN: VERSION_ARN,
    AWS_ENDPOINT_URL_LAMBDA: aws,
    AWS_ENDPOINT_URL_CODEDEPLOY: aws,
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    ...variables,
  };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const log: object[] = [];
  for (const level of ['info', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line) => {
      // Skips the request log of the version, which runs in this process too.
      if (!('outcome' in line)) log.push({ level, ...line });
    });
  }
  vi.resetModules();
  const { handler } = await import('./index.ts');
  const thrown = await handler(LIFECYCLE_EVENT, contextWith(remainingMs)).catch((error: Error) => error);
  return { status: thrown ? thrown.message : endpoints.status(), log, events, tokens: await storedTokens() };
}

/** Returns the items of all tokens except the development token. */
async function storedTokens() {
  const items = await engine.items(engine.accessTokensTable);
  return items.filter(({ name }) => name?.S !== 'development');
}

/** An error response of CodeDeploy ("Common Errors", CodeDeploy API Reference). */
const accessDenied =
  (action: string) =>
  ({ headers }: ReceivedRequest) =>
    headers['x-amz-target'] === `CodeDeploy_20141006.${action}`
      ? { status: 400, headers: {}, body: '{"__type":"AccessDeniedException","message":"not allowed"}' }
      : undefined;

/** An error response of Lambda ("Invoke", Lambda API Reference). */
const lambdaError =
  (status: number, type: string) =>
  ({ path }: ReceivedRequest) =>
    path.endsWith('/invocations')
      ? { status, headers: { 'x-amzn-errortype': type }, body: '{"message":"not now"}' }
      : undefined;

const STARTED = { level: 'info', deploymentId: 'd-ABCDEF123', creator: 'user' };

test('a correct version passes with the hook’s own tokens, which are deleted afterwards', async () => {
  const during: Awaited<ReturnType<typeof storedTokens>> = [];
  const startedAt = Math.floor(Date.now() / 1000);
  const { status, log, events, tokens } = await runHook({
    version: async (event, validToken) => {
      if (during.length === 0) during.push(...(await storedTokens()));
      return await invoke(event, validToken);
    },
  });
  expect({ status, tokens }).toEqual({ status: 'Succeeded', tokens: [] });
  const passedChecks = allChecks['createPlant']?.length;
  expect(log).toEqual([STARTED, { level: 'info', operation: 'createPlant', passedChecks }]);
  expect(events.length).toBe(passedChecks);
  const [valid, expired] = during.toSorted((a, b) => String(a['name']?.S).localeCompare(String(b['name']?.S)));
  expect(valid).toMatchObject({ name: { S: 'release-d-ABCDEF123' } });
  expect(valid?.['digest']?.S).toBe(events[0] && digestOf(tokenOf(events[0])));
  // Valid only until the hook times out.
  const secondsLeft = Number(valid?.['expiresAt']?.N) - startedAt;
  expect(secondsLeft).toBeGreaterThanOrEqual(60);
  expect(secondsLeft).toBeLessThan(120);
  expect(Number(expired?.['expiresAt']?.N)).toBeLessThan(startedAt);
});

test('leaves out a check that needs another operation', async () => {
  const [check] = allChecks['createPlant'] ?? [];
  const checks = check && [check, { ...check, smokeTestOnly: true }];
  vi.doMock('./all-checks.ts', () => ({ allChecks: { createPlant: checks } }));
  onTestFinished(() => void vi.doUnmock('./all-checks.ts'));
  const { log, events } = await runHook();
  expect(log).toEqual([STARTED, { level: 'info', operation: 'createPlant', passedChecks: 1 }]);
  expect(events).toHaveLength(1);
});

test('sends events with the members of a sample event', async () => {
  const { events } = await runHook();
  const members = (value: unknown): unknown =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, members(member)]))
      : expect.anything();
  const { headers, multiValueHeaders, ...sample } = sampleEvent('create-plant');
  const present = (value: unknown) => JSON.parse(JSON.stringify(value), (_, each) => each ?? undefined);
  expect(present(events[0])).toMatchObject(members(present(sample)) as object);
  const sent = Object.keys(events[0]?.headers ?? {});
  expect(sent).toEqual(expect.arrayContaining(Object.keys(headers).filter((name) => name !== 'Accept')));
  expect(Object.keys(events[0]?.multiValueHeaders ?? {})).toEqual(sent);
  expect(Object.keys(multiValueHeaders)).toEqual(Object.keys(headers));
});

test.each(brokenVersions)('a version that %s fails the check “%s”', async (failure, check, version) => {
  stubResponseLimit(failure);
  const { status, log, tokens } = await runHook({ version: (event, token) => invoke(event, token, version) });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toEqual([STARTED, { level: 'error', check, problem: expect.any(String) }]);
});

test('a plant of a client has another id than those of the checks, so a broken version does not change it', async () => {
  const ids = (await runHook()).events.flatMap(({ body }) => {
    return /(?<="id":)-?\d+(?=,)/.exec(Buffer.from(body ?? '', 'base64').toString()) ?? [];
  });
  const other = (await runHook()).events.map(({ body }) => Buffer.from(body ?? '', 'base64').toString());
  expect(ids.filter((id) => other.some((body) => body.includes(`"id":${id},`)))).toEqual([]);
  expect(ids.length).toBeGreaterThan(20);
});

test.each([429, 503, 504])('repeats a request up to three times after error %i', async (error) => {
  vi.mocked(sleep).mockResolvedValue(undefined);
  const responses = (count: number) => {
    let left = count;
    return (event: APIGatewayProxyEvent, token: string) => {
      left -= 1;
      if (left < 0) return invoke(event, token);
      const headers = { 'content-type': 'application/json' };
      return { statusCode: 400, headers, body: `{"error":${error},"message":"x"}` };
    };
  };
  expect((await runHook({ version: responses(3) })).status).toBe('Succeeded');
  expect((await runHook({ version: responses(4) })).status).toBe('Failed');
});

test('does not log the response of a version, nor a token', async () => {
  const secrets = ['secret-of-the-version'];
  const { log, status } = await runHook({
    version: (_, token) => {
      secrets.push(token);
      return { statusCode: 500, headers: { 'content-type': `secret-of-the-version ${token}` }, body: secrets.join() };
    },
  });
  expect(status).toBe('Failed');
  for (const secret of secrets) expect(JSON.stringify(log)).not.toContain(secret);
});

test('a version that does not respond fails early enough to delete the tokens and to report', async () => {
  const { status, tokens } = await runHook({ version: () => new Promise(() => {}), remainingMs: 20_500 });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
});

test.each(['codeDeployRollback', 'CloudFormationRollback'])('does not check a deployment of %s', async (creator) => {
  const { status, log, events } = await runHook({ creator });
  expect({ status, events, log }).toEqual({ status: 'Succeeded', events: [], log: [{ ...STARTED, creator }] });
});

test('checks the version if it cannot read the deployment', async () => {
  const { status, events } = await runHook({ awsError: accessDenied('GetDeployment') });
  expect(status).toBe('Succeeded');
  expect(events).not.toEqual([]);
});

test.each<[string, Setup, string]>([
  ...['OPERATION_ID', 'RESOURCE_PATH', 'NEW_VERSION_ARN', 'ACCESS_TOKENS_TABLE_NAME'].map(
    (name): [string, Setup, string] => [
      `has no ${name}`,
      { variables: { [name]: '' } },
      `Error: The environment variable ${name} is missing`,
    ],
  ),
  ['has no checks of its operation', { variables: { OPERATION_ID: 'x' } }, 'all-checks.ts has no checks of x.'],
  ['cannot create a token', { tokensFailure: { action: 'PutItem', failure: 'denies access' } }, 'AccessDenied'],
])('a hook that %s reports a failure and logs the cause', async (_, setup, problem) => {
  const { status, log, events, tokens } = await runHook(setup);
  expect({ status, events, tokens }).toEqual({ status: 'Failed', events: [], tokens: [] });
  expect(log).toContainEqual(expect.objectContaining({ problem: expect.stringContaining(problem) }));
});

test('reports a failure if it cannot invoke the version', async () => {
  const { status, log } = await runHook({ awsError: lambdaError(403, 'AccessDeniedException') });
  expect(status).toBe('Failed');
  expect(log).toContainEqual({ level: 'error', check: 'creates a plant', problem: 'not now' });
});

test('logs the name of a token that it cannot delete, and reports the same status', async () => {
  const { status, log, tokens } = await runHook({ tokensFailure: { action: 'DeleteItem', failure: 'denies access' } });
  expect(status).toBe('Succeeded');
  const message = 'The token release-d-ABCDEF123 could not be deleted; it expires.';
  expect(log).toContainEqual({ level: 'error', message, problem: expect.stringContaining('AccessDenied') });
  expect(tokens).toHaveLength(2);
});

test('throws if CodeDeploy does not accept the report', async () => {
  const action = 'PutLifecycleEventHookExecutionStatus';
  expect((await runHook({ awsError: accessDenied(action) })).status).toBe('not allowed');
});
