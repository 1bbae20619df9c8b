import { DeleteItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../../functions/shared/access-token.ts';
import { type Engine, startEngine } from '../../test/support/engine.ts';
import { contextWith } from '../../test/support/event.ts';
import { type Plan, startFaultProxy } from '../../test/support/fault-proxy.ts';
import { LIFECYCLE_EVENT, releaseEndpoints, VERSION_ARN } from '../../test/support/release-endpoints.ts';
import { type Answered, type Sent, startStandIn } from '../../test/support/stand-in-service.ts';

let engine: Engine;
let soundVersion: (event: APIGatewayProxyEvent) => Promise<unknown>;
beforeAll(async () => {
  engine = await startEngine();
  const { handler } = await import('../../functions/create-plant/index.ts');
  soundVersion = (event) => handler(event as never, contextWith());
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
  version?: (event: APIGatewayProxyEvent) => unknown;
  variables?: Record<string, string>;
  /** What goes wrong with the calls to the table of tokens. */
  tokensFault?: Pick<Plan, 'fault'> & { action: string };
  /** What Lambda or CodeDeploy answers itself. */
  refusal?: (sent: Sent) => Answered | Promise<Answered> | undefined;
  remainingMs?: number;
}

/** Has a version asked. Returns the status that CodeDeploy is told, what is logged, and the events that came. */
async function prove({ version, variables, tokensFault, refusal, remainingMs = 60_000 }: Circumstances = {}) {
  const events: APIGatewayProxyEvent[] = [];
  const endpoints = releaseEndpoints(VERSION_ARN, (event) => {
    // The handler in this process changes what it is given.
    events.push(structuredClone(event));
    return (version ?? soundVersion)(event);
  });
  const aws = await startStandIn((sent) => refusal?.(sent) ?? endpoints.answerTo(sent));
  const database = await startFaultProxy(engine.endpoint);
  onTestFinished(() => database.close());
  if (tokensFault) {
    const { action, fault } = tokensFault;
    database.plan({ call: `${action} ${engine.accessTokensTable}`, fault, times: 9, applied: false });
  }
  const all = {
    OPERATION_ID: 'createPlant',
    FUNCTION_VERSION_ARN: VERSION_ARN,
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
  const { handler } = await import('./before-traffic.ts');
  const thrown = await handler(LIFECYCLE_EVENT, contextWith(remainingMs)).catch((error: Error) => error);
  return { status: thrown ? thrown.message : endpoints.status(), log, events, tokens: await issued() };
}

/** The items of all tokens but that of the local run. */
async function issued() {
  const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: engine.accessTokensTable }));
  return Items.filter(({ name }) => name?.S !== 'development');
}

/** The token that a release was given. */
function tokenOf(event: APIGatewayProxyEvent | undefined): string {
  return String(event?.headers['Authorization']).replace('Bearer ', '');
}

test('a sound version succeeds by a token of its own, which is withdrawn', async () => {
  const during: unknown[] = [];
  const startedAt = Math.floor(Date.now() / 1000);
  const { status, log, events, tokens } = await prove({
    version: async (event) => {
      during.push(...(await issued()));
      return soundVersion(event);
    },
  });
  const item = during[0] as { name: unknown; digest: unknown; expiresAt: { N: string } };
  expect(item).toMatchObject({ name: { S: 'release-d-ABCDEF123' }, digest: { S: digestOf(tokenOf(events[0])) } });
  // It is valid for as long as this function may run, and no longer.
  expect(Number(item.expiresAt.N) - startedAt).toBeGreaterThanOrEqual(60);
  expect(Number(item.expiresAt.N) - startedAt).toBeLessThan(120);
  expect({ status, tokens }).toEqual({ status: 'Succeeded', tokens: [] });
  const summary = { operation: 'createPlant', version: VERSION_ARN, ok: expect.any(Number), taken: 0, failed: 0 };
  expect(log).toEqual([{ level: 'info', ...summary }]);
});

test('a version that breaks one rule fails, and the log has that rule and what was seen', async () => {
  const { status, log, tokens } = await prove({
    version: (event) =>
      event.headers['Content-Type'] === 'text/plain'
        ? { statusCode: 200, headers: {}, body: 'x' }
        : soundVersion(event),
  });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toEqual([
    {
      level: 'error',
      rule: 'POST /plants with the Content-Type text/plain is error 415',
      seen: '200, no Content-Type, x; the Content-Type must be application/json',
    },
    expect.objectContaining({ level: 'info', taken: 0, failed: 1 }),
  ]);
});

test.each<[string, (token: string, event: APIGatewayProxyEvent) => string]>([
  ['the token', (token) => token],
  ['a part of the token', (token) => token.slice(0, -5)],
  ['its digest', (token) => digestOf(token)],
  ['its digest in base64', (token) => Buffer.from(digestOf(token), 'hex').toString('base64')],
  ['the event in base64', (_, event) => Buffer.from(JSON.stringify(event.headers)).toString('base64')],
])('what a version tells of %s gets into no log', async (_, said) => {
  const told: string[] = [];
  const { status, log, events } = await prove({
    version: (event) => {
      told.push(said(tokenOf(event), event));
      throw new Error(`at index.mjs:7, for ${told.at(-1)} sent`);
    },
  });
  expect(status).toBe('Failed');
  const whole = JSON.stringify(log);
  expect(whole).toContain('at index.mjs:7, for ...');
  const parts = (text: string) => Array.from({ length: text.length - 31 }, (_, at) => text.slice(at, at + 32));
  expect([...told, tokenOf(events[0])].flatMap(parts).filter((part) => whole.includes(part))).toEqual([]);
});

test.each<[string, Circumstances]>([
  ['does not answer', { version: () => new Promise(() => {}) }],
  [
    'is throttled each time',
    {
      version: () => ({
        statusCode: 400,
        headers: { 'content-type': 'application/json', 'retry-after': '10' },
        body: '{"error":429,"message":"x"}',
      }),
    },
  ],
])('a version that %s fails when the time is up, in time to withdraw the token', async (_, circumstances) => {
  const { status, log, tokens } = await prove({ ...circumstances, remainingMs: 20_500 });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toEqual([
    { level: 'error', rule: 'a plant is a 200, and again', seen: 'the time was up before it was answered' },
  ]);
});

test.each<[string, Circumstances, string]>([
  ['has no operation', { variables: { OPERATION_ID: '' } }, 'Error: The environment variable OPERATION_ID is missing'],
  [
    'has an operation of no contract',
    { variables: { OPERATION_ID: 'x' } },
    'Error: x is no operation of the contract.',
  ],
  [
    'has no table of tokens',
    { variables: { ACCESS_TOKENS_TABLE_NAME: '' } },
    'Error: The environment variable ACCESS_',
  ],
  ['may issue no token', { tokensFault: { action: 'PutItem', fault: 'refuses access' } }, 'AccessDeniedException: '],
])('where the function that asks %s, the release fails and the log says why', async (_, circumstances, seen) => {
  const { status, log, events, tokens } = await prove(circumstances);
  expect({ status, events, tokens }).toEqual({ status: 'Failed', events: [], tokens: [] });
  const message = 'The new version could not be asked.';
  expect(log).toEqual([{ level: 'error', message, seen: expect.stringContaining(seen) }]);
});

test('where the version may not be called, the release fails and the log says why', async () => {
  const refused = {
    status: 403,
    headers: { 'x-amzn-errortype': 'AccessDeniedException' },
    body: '{"message":"not you"}',
  };
  const { status, log, tokens } = await prove({
    refusal: ({ path }) => (path.endsWith('/invocations') ? refused : undefined),
  });
  expect({ status, tokens }).toEqual({ status: 'Failed', tokens: [] });
  expect(log).toContainEqual({ level: 'error', rule: 'a plant is a 200, and again', seen: 'not you' });
});

test('an invocation that Lambda throttles is repeated', async () => {
  const throttled = { status: 429, headers: { 'x-amzn-errortype': 'TooManyRequestsException' }, body: '{}' };
  let invocations = 0;
  const { status } = await prove({
    refusal: ({ path }) => {
      if (!path.endsWith('/invocations')) return undefined;
      invocations += 1;
      return invocations <= 5 ? throttled : undefined;
    },
  });
  expect(status).toBe('Succeeded');
});

test.each(['throttles', 'answers 500', 'resets the connection'] as const)(
  'a version is let pass, unasked, where the database %s: nothing can be told of it',
  async (fault) => {
    const { status, log, events, tokens } = await prove({ tokensFault: { action: 'PutItem', fault } });
    expect({ status, events, tokens }).toEqual({ status: 'Succeeded', events: [], tokens: [] });
    const message = 'The database is down; nothing can be told of the new version.';
    expect(log).toEqual([{ level: 'warn', message, seen: expect.stringContaining('The database') }]);
  },
);

test('a token that cannot be withdrawn is told by its name, and the release ends as it would', async () => {
  const { status, log, tokens } = await prove({ tokensFault: { action: 'DeleteItem', fault: 'refuses access' } });
  for (const { digest = { S: '' } } of tokens) {
    await engine.client.send(new DeleteItemCommand({ TableName: engine.accessTokensTable, Key: { digest } }));
  }
  expect({ status, left: tokens.length }).toEqual({ status: 'Succeeded', left: 1 });
  const message = 'The token release-d-ABCDEF123 is not withdrawn; it expires by itself.';
  expect(log).toContainEqual({ level: 'error', message, seen: expect.any(String) });
});

test('where CodeDeploy cannot be told, the function fails, its token withdrawn', async () => {
  const { status, tokens } = await prove({
    version: () => null,
    refusal: ({ headers }) =>
      headers['x-amz-target'] === undefined
        ? undefined
        : { status: 400, headers: {}, body: '{"__type":"X","message":"no such deployment"}' },
  });
  expect({ status, tokens }).toEqual({ status: 'no such deployment', tokens: [] });
});

test('a CodeDeploy that does not answer is told again', async () => {
  let calls = 0;
  const { status } = await prove({
    version: () => null,
    refusal: ({ headers }) => {
      if (headers['x-amz-target'] === undefined) return undefined;
      calls += 1;
      return calls === 1 ? new Promise(() => {}) : undefined;
    },
  });
  expect({ status, calls }).toEqual({ status: 'Failed', calls: 2 });
});
