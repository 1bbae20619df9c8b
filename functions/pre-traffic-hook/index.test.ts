import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { type Plan, startFailureProxy } from '../../test/support/dynamodb-proxy.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith } from '../../test/support/event.ts';
import { type FakeResponse, type ReceivedRequest, startFakeService } from '../../test/support/fake-service.ts';
import {
  CURRENT,
  DEPLOYMENT,
  FUNCTION_ARN,
  LIFECYCLE_EVENT,
  releaseEndpoints,
  TARGET,
  VERSION_ARN,
} from '../../test/support/release-endpoints.ts';
import { digestOf } from '../shared/access-tokens/token.ts';

/** Most tests run only the first checks, because all of them take a second. */
const run = vi.hoisted(() => ({ allChecks: false }));
vi.mock(import('./all-checks.ts'), async (original) => {
  const { checksOfFunction, ...others } = await original();
  const firstChecks: typeof checksOfFunction = (...args) => {
    const { operation, checks } = checksOfFunction(...args);
    return { operation, checks: run.allChecks ? checks : checks.slice(0, 20) };
  };
  return { ...others, checksOfFunction: firstChecks };
});

const engine = closedAtEnd(await startEngine());
const { handler: createPlant } = await import('../create-plant/index.ts');
const correctVersion = async (event: APIGatewayProxyEvent) => createPlant(event as never, contextWith());
beforeEach(() => {
  // The SDK waits for a random time before it repeats a call.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

interface Setup {
  /** @default false */
  allChecks?: boolean;
  /** Handles an event as the new version. @default a correct version */
  version?: (event: APIGatewayProxyEvent) => unknown;
  /** Replaces members of CodeDeploy's deployment. */
  deployment?: object;
  /** Replaces environment variables. */
  variables?: Record<string, string>;
  /** A failure of one action on the token table. */
  tokensFailure?: Pick<Plan, 'failure'> & { action: string };
  /** Returns the error response of Lambda or CodeDeploy to a request. @default none */
  awsError?: (sent: ReceivedRequest) => FakeResponse | Promise<FakeResponse> | undefined;
  /** Milliseconds until the hook times out. @default 60,000 */
  remainingMs?: number;
}

/** Runs the hook. Returns its status, its log, the events of the version, and the tokens that are left. */
async function runHook({ version, deployment, allChecks = false, ...others }: Setup = {}) {
  run.allChecks = allChecks;
  const { variables, tokensFailure, awsError, remainingMs = 60_000 } = others;
  const events: APIGatewayProxyEvent[] = [];
  const respond = (event: APIGatewayProxyEvent) => {
    // A copy, because the handler in this process changes the event.
    events.push(structuredClone(event));
    return (version ?? correctVersion)(event);
  };
  const endpoints = releaseEndpoints(FUNCTION_ARN, respond, { ...DEPLOYMENT, ...deployment });
  const aws = await startFakeService((sent) => awsError?.(sent) ?? endpoints.respond(sent));
  const database = await startFailureProxy(engine.endpoint);
  onTestFinished(() => database.close());
  if (tokensFailure) {
    const { action, failure } = tokensFailure;
    database.plan({ call: `${action} ${engine.accessTokensTable}`, failure, times: 9, applied: false });
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

const FIRST_CHECK = 'POST /plants without Authorization header gets error 401 and a WWW-Authenticate header';

/** An error response of CodeDeploy to one action. */
const codeDeployError =
  (action: string, message: string): NonNullable<Setup['awsError']> =>
  ({ headers }) =>
    headers['x-amz-target'] === `CodeDeploy_20141006.${action}`
      ? { status: 400, headers: {}, body: JSON.stringify({ __type: 'X', message }) }
      : undefined;

/** Returns the items of all tokens except the development token. */
async function storedTokens() {
  const items = await engine.items(engine.accessTokensTable);
  return items.filter(({ name }) => name?.S !== 'development');
}

/** Returns the token in an event. */
function tokenOf(event: APIGatewayProxyEvent | undefined): string {
  const { Authorization, authorization = Authorization } = event?.headers ?? {};
  return String(authorization).replace('Bearer ', '');
}

const ROLE_ARN = 'arn:aws:sts::000000000000:assumed-role/PlantStore-CreatePlantReleasePreTrafficHook';

test('a correct version passes with the hook’s own tokens, which are deleted afterwards', async () => {
  const during: Record<string, AttributeValue>[] = [];
  const startedAt = Math.floor(Date.now() / 1000);
  const { status, log, events, tokens } = await runHook({
    allChecks: true,
    version: async (event) => {
      if (during.length === 0) during.push(...(await storedTokens()));
      return correctVersion(event);
    },
  });
  const [valid, expired] = during.toSorted((a, b) => String(a['name']?.S).localeCompare(String(b['name']?.S)));
  expect(valid).toMatchObject({ name: { S: 'release-d-ABCDEF123' } });
  expect(events.map(tokenOf).map(digestOf)).toContain(valid?.['digest']?.S);
  // Valid only until the hook times out.
  const secondsLeft = Number(valid?.['expiresAt']?.N) - startedAt;
  expect(secondsLeft).toBeGreaterThanOrEqual(60);
  expect(secondsLeft).toBeLessThan(120);
  expect(expired).toMatchObject({ name: { S: 'release-d-ABCDEF123-expired' } });
  expect(Number(expired?.['expiresAt']?.N)).toBeLessThan(startedAt);
  expect({ status, tokens }).toEqual({ status: 'Succeeded', tokens: [] });
  expect(log).toEqual([
    { level: 'info', operation: 'createPlant', versionArn: VERSION_ARN, passed: expect.any(Number) },
  ]);
});

test('plants of clients do not block a correct version, and a broken version does not change them', async () => {
  for (const id of [0n, 1n, 7n, 100n, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n)]) {
    await engine.put(engine.plantsTable, { id: { N: String(id) }, name: { S: 'of a client' } });
  }
  const before = await engine.items(engine.plantsTable);
  expect(await runHook({ allChecks: true })).toMatchObject({ status: 'Succeeded' });
  const { status } = await runHook({
    // A broken version that accepts every request and overwrites plants.
    version: async (event) => {
      const [id] = /(?<="id":)-?\d+/.exec(Buffer.from(event.body ?? '', 'base64').toString()) ?? [];
      if (id !== undefined) await engine.put(engine.plantsTable, { id: { N: id }, name: { S: 'overwritten' } });
      return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"name":"check"}' };
    },
  });
  expect(status).toBe('Failed');
  expect(await engine.items(engine.plantsTable)).toEqual(expect.arrayContaining(before));
});

test('stops and logs the check when a version fails it', async () => {
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
      check: 'POST /plants with the Content-Type text/plain gets error 415',
      problem: '200, no Content-Type, x; the Content-Type must be application/json',
    },
  ]);
  expect(Object.values(events.at(-1)?.headers ?? {})).toContain('text/plain');
});

test('checks that the first allowed origin can read the responses', async () => {
  const { status, log } = await runHook({ variables: { ALLOW_ORIGINS: 'https://a.example,https://b.example' } });
  expect(status).toBe('Failed');
  expect(log).toEqual([
    expect.objectContaining({ problem: expect.stringContaining('it must be https://a.example or *') }),
  ]);
});

test('checks JWTs with the issuer, the first audience and the scope of the identity provider', async () => {
  const variables = { TOKEN_ISSUER: 'https://id.example', TOKEN_AUDIENCE: 'plants,orders', TOKEN_SCOPE: 'write' };
  const { events } = await runHook({ allChecks: true, variables });
  const jwts = events.map(tokenOf).filter((token) => /^[\w-]+\.[\w-]+\./.test(token));
  const claims = jwts.map((jwt) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()));
  const expected = { iss: 'https://id.example', aud: 'plants', scope: 'write' };
  expect(claims).toEqual(claims.map(() => expect.objectContaining(expected)));
  expect(claims).not.toEqual([]);
});

test.each<[string, (token: string, event: APIGatewayProxyEvent) => string]>([
  ['the token', (token) => token],
  ['a part of the token', (token) => token.slice(0, -5)],
  ['its digest', (token) => digestOf(token)],
  ['its digest in base64', (token) => Buffer.from(digestOf(token), 'hex').toString('base64')],
  ['the event in base64', (_, event) => Buffer.from(JSON.stringify(event.headers)).toString('base64')],
])('does not log %s from a version’s error', async (_, secretOf) => {
  const secrets: string[] = [];
  const { status, log, events } = await runHook({
    version: (event) => {
      if (!tokenOf(event).startsWith('plantstore_')) return correctVersion(event);
      secrets.push(secretOf(tokenOf(event), event));
      throw new Error(`at index.mjs:7, for ${secrets.at(-1)} sent`);
    },
  });
  expect(status).toBe('Failed');
  const logText = JSON.stringify(log);
  expect(logText).toContain('at index.mjs:7, for ...');
  const parts = (text: string) => Array.from({ length: text.length - 31 }, (_, at) => text.slice(at, at + 32));
  expect([...secrets, tokenOf(events.at(-1))].flatMap(parts).filter((part) => logText.includes(part))).toEqual([]);
});

test('a version that does not respond fails early enough to delete the tokens', async () => {
  const { status, log, tokens } = await runHook({ version: () => new Promise(() => {}), remainingMs: 20_500 });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toEqual([{ level: 'error', check: FIRST_CHECK, problem: 'the check did not end in time' }]);
});

const versionsIn = (content: string) => ({ revision: { revisionType: 'String', string: { content } } });

test.each<[string, Setup, string]>([
  ...['OPERATION_ID', 'FUNCTION_ARN', 'ACCESS_TOKENS_TABLE_NAME'].map((name): [string, Setup, string] => [
    `has no ${name}`,
    { variables: { [name]: '' } },
    `Error: The environment variable ${name} is missing`,
  ]),
  ['has an unknown operation', { variables: { OPERATION_ID: 'x' } }, 'Error: openapi.yaml has no operation x.'],
  [
    'finds the database unavailable',
    { tokensFailure: { action: 'PutItem', failure: 'responds with 500' } },
    'The database',
  ],
  ['cannot create a token', { tokensFailure: { action: 'PutItem', failure: 'denies access' } }, 'AccessDenied'],
  // Longer than the texts that are removed from the responses of a version.
  ['cannot read the deployment', { awsError: codeDeployError('GetDeployment', ROLE_ARN) }, `X: ${ROLE_ARN}`],
  [
    'finds no versions',
    { deployment: versionsIn('{}') },
    'Error: The deployment has no currentversion in its AppSpec: {}',
  ],
])('a hook that %s reports a failure and logs the cause', async (_, setup, problem) => {
  const { status, log, events, tokens } = await runHook(setup);
  expect({ status, events, tokens }).toEqual({ status: 'Failed', events: [], tokens: [] });
  const message = 'The new version could not be checked.';
  expect(log).toEqual([{ level: 'error', message, problem: expect.stringContaining(problem) }]);
});

test('reads the versions from an AppSpec in YAML', async () => {
  const deployment = versionsIn(`Properties:\n  currentversion: "${CURRENT}"\n  targetversion: ${TARGET}\n`);
  expect(await runHook({ deployment })).toMatchObject({ status: 'Succeeded', log: [{ versionArn: VERSION_ARN }] });
});

test.each<[string, object]>([
  ['by CodeDeploy', { creator: 'codeDeployRollback' }],
  ['to a version with a lower number', versionsIn('{"CurrentVersion":"10","TargetVersion":"9"}')],
])('does not check a rollback %s', async (_, deployment) => {
  const { status, log, events } = await runHook({ deployment, version: () => null });
  expect({ status, events }).toEqual({ status: 'Succeeded', events: [] });
  const message = 'The deployment is a rollback, so the version is not checked.';
  expect(log).toEqual([{ level: 'info', message, deploymentId: 'd-ABCDEF123' }]);
});

/** An error response of Lambda. */
const lambdaError = (status: number, type: string, message: string) => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: JSON.stringify({ message }),
});

test('a hook that cannot invoke the version reports a failure and logs the cause', async () => {
  const { status, log, tokens } = await runHook({
    awsError: ({ path }) =>
      path.endsWith('/invocations') ? lambdaError(403, 'AccessDeniedException', 'not allowed') : undefined,
  });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toContainEqual({ level: 'error', check: FIRST_CHECK, problem: 'not allowed' });
});

test('repeats an invocation that Lambda throttles', async () => {
  let invocations = 0;
  const { status } = await runHook({
    awsError: ({ path }) => {
      if (!path.endsWith('/invocations')) return undefined;
      invocations += 1;
      return invocations <= 5 ? lambdaError(429, 'TooManyRequestsException', '') : undefined;
    },
  });
  expect(status).toBe('Succeeded');
});

test('a version passes if the identity provider is unavailable', async () => {
  const body = JSON.stringify({ error: 503, message: 'The identity provider failed or did not respond.' });
  const unavailable = { statusCode: 400, headers: { 'content-type': 'application/json' }, body };
  const { status } = await runHook({
    version: (event) => (tokenOf(event).includes('.') ? unavailable : correctVersion(event)),
  });
  expect(status).toBe('Succeeded');
});

test('logs the name of a token that it cannot delete, and reports the same status', async () => {
  const { status, log, tokens } = await runHook({ tokensFailure: { action: 'DeleteItem', failure: 'denies access' } });
  await engine.clear(engine.accessTokensTable);
  expect({ status, left: tokens.length }).toEqual({ status: 'Succeeded', left: 2 });
  const message = 'The token release-d-ABCDEF123 could not be deleted; it expires.';
  expect(log).toContainEqual({ level: 'error', message, problem: expect.any(String) });
});

test('deletes its tokens and throws if it cannot report the status', async () => {
  const { status, tokens } = await runHook({
    version: () => null,
    awsError: codeDeployError('PutLifecycleEventHookExecutionStatus', 'no such deployment'),
  });
  expect({ status, tokens }).toEqual({ status: 'no such deployment', tokens: [] });
});

test('repeats the report if CodeDeploy does not respond', async () => {
  let calls = 0;
  const { status } = await runHook({
    version: () => null,
    awsError: ({ headers }) => {
      if (!String(headers['x-amz-target']).endsWith('ExecutionStatus')) return undefined;
      calls += 1;
      return calls === 1 ? new Promise(() => {}) : undefined;
    },
  });
  expect({ status, calls }).toEqual({ status: 'Failed', calls: 2 });
});
