import { subscribe } from 'node:diagnostics_channel';
import { type ClientRequest, createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as sdk from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { contextWith } from '../../../test/support/event.ts';
import { listen } from '../../../test/support/listen.ts';
import { character, fc, RUNS, text } from '../../../test/support/property.ts';
import { FUNCTION_TIMEOUT_MS, RESERVED_MS } from '../time-limits.ts';
import type { Action, Input } from './actions.ts';
import { DynamoDb } from './client.ts';

const CREDENTIALS = { accessKeyId: 'the-id', secretAccessKey: 'the-secret', sessionToken: 'the-session' };

Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  AWS_SESSION_TOKEN: CREDENTIALS.sessionToken,
});

beforeEach(() => {
  // The shortest backoff.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The host to which each request of this process was sent. On a busy machine, a request can end before it arrives. */
const sentTo: unknown[] = [];
subscribe('http.client.request.start', (message) => {
  sentTo.push((message as { request: ClientRequest }).request.getHeader('host'));
});

/** Starts a fake DynamoDB, which ends with this file's process. Returns its endpoint and the number of requests so far. */
async function startDatabase(listener: RequestListener) {
  const host = await listen(createServer(listener));
  return { endpoint: `http://${host}`, attempts: () => sentTo.filter((sent) => sent === host).length };
}

function clientOf(endpoint: string): DynamoDb {
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
  return new DynamoDb();
}

const READ = { TableName: 'Plants', Key: { id: { N: '1' } } };

/** Reads an item from a fake DynamoDB. Returns the result and the number of attempts. */
async function readFrom(listener: RequestListener, remainingMs = FUNCTION_TIMEOUT_MS) {
  const { endpoint, attempts } = await startDatabase(listener);
  const result = await clientOf(endpoint)
    .send('GetItem', READ, contextWith(remainingMs))
    .catch((error: Error) => error);
  return { result, attempts: attempts() };
}

const respond =
  (status: number, body: string, headers = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers }).end(body);

const failure = (status: number, name: string) =>
  respond(status, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'said' }));

/** Failures that the SDK notices only by a timeout. */
const TIMEOUTS: Record<string, RequestListener> = {
  'never responds': () => {},
  'sends headers without end': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x-slow: x\r\n'), 50);
    socket.once('close', () => clearInterval(timer));
  },
  'stalls within its response': (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{'),
  'switches protocols': ({ socket }) =>
    void socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
};

const FAILURES: Record<string, RequestListener> = {
  'responds with 500': failure(500, 'InternalServerError'),
  'responds with 503 in HTML': respond(503, '<html>busy</html>', { 'content-type': 'text/html' }),
  'resets the connection': (request) => request.socket.destroy(),
  'aborts its response': (_, response) => {
    response.writeHead(200, { 'content-length': 99 }).write('{');
    sleep(20).then(() => response.destroy());
  },
  'responds with half a JSON document': respond(200, '{"Item":'),
  'responds with nothing': respond(200, ''),
  'responds with an empty object': respond(200, '{}'),
  'responds with null': respond(200, 'null'),
  'responds with HTML': respond(200, '<html></html>'),
};

const THROTTLING_ERRORS = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
];

test.each(THROTTLING_ERRORS)('throws 429 for %s, after three attempts', async (name) => {
  const message = 'The database is throttled. Try again a little later.';
  const result = { error: 429, message, cause: { name } };
  expect(await readFrom(failure(400, name))).toMatchObject({ result, attempts: 3 });
});

test('throws 503 if the connection is refused', async () => {
  const call = clientOf('http://127.0.0.1:1').send('GetItem', READ, contextWith());
  await expect(call).rejects.toMatchObject({ error: 503, cause: { code: 'ECONNREFUSED' } });
});

test.each([
  ['{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"said"}'],
  ['{"__type":"AccessDeniedException","message":"said"}'],
])('throws the DynamoDB error %s unchanged, after one attempt', async (body) => {
  const result = { name: 'AccessDeniedException', message: 'said' };
  expect(await readFrom(respond(400, body))).toMatchObject({ result, attempts: 1 });
});

test('leaves no timer that keeps the process running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  await readFrom(respond(200, '{"ConsumedCapacity":{}}'));
  expect(timers(), 'timers').toBeLessThanOrEqual(before);
});

test.each(['{"Item":{"name":{"S":"secret"}}}', '{"Item":{"name":{"S":"secret"}'])(
  'does not include the invalid response %s in the error',
  async (body) => {
    const { result } = await readFrom(respond(200, body));
    const message = `The response with status 200 and ${body.length} characters is not DynamoDB's.`;
    expect(result).toMatchObject({ cause: { message } });
  },
);

test('reuses the connection for the next call', async () => {
  const ports = new Set<number | undefined>();
  const { endpoint } = await startDatabase((request, response) => {
    ports.add(request.socket.remotePort);
    respond(200, '{"ConsumedCapacity":{}}')(request, response);
  });
  const dynamoDb = clientOf(endpoint);
  for (let call = 0; call < 3; call += 1) await dynamoDb.send('GetItem', READ, contextWith());
  expect(ports.size, 'connections').toBe(1);
});

test('throws without an environment variable of Lambda', () => {
  vi.stubEnv('AWS_REGION', '');
  expect(() => new DynamoDb()).toThrow('The environment variable AWS_REGION is missing: it must be set by the stack.');
});

const nonEmpty = fc.string({ minLength: 1, unit: character });
const number = fc.oneof(fc.bigInt().map(String), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
const { value: attribute } = fc.letrec<{ value: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.record({ S: text }),
    fc.record({ N: number }),
    fc.record({ BOOL: fc.boolean() }),
    fc.record({ NULL: fc.constant(true) }),
    fc.record({ SS: fc.array(nonEmpty, { minLength: 1 }) }),
    fc.record({ NS: fc.array(number, { minLength: 1 }) }),
    fc.record({ L: fc.array(tie('value')) }),
    fc.record({ M: fc.dictionary(nonEmpty, tie('value')) }),
  ),
}));
const TableName = fc.stringMatching(/^[\w.-]{3,30}$/);
const item = fc.dictionary(nonEmpty, attribute);
const put = fc.record(
  { TableName, Item: item, ConditionExpression: nonEmpty, ExpressionAttributeValues: item },
  { requiredKeys: ['TableName', 'Item'] },
);
const key = fc.record({ TableName, Key: item, ExpressionAttributeNames: fc.dictionary(nonEmpty, nonEmpty) });

/** Random inputs of each action. */
const INPUTS: Record<Action, fc.Arbitrary<unknown>> = {
  GetItem: key,
  PutItem: put,
  DeleteItem: key,
  UpdateItem: key,
  Query: fc.record({ TableName, KeyConditionExpression: nonEmpty, Limit: fc.nat(), ScanIndexForward: fc.boolean() }),
  Scan: fc.record({ TableName, FilterExpression: nonEmpty, ExclusiveStartKey: item }),
};

function sdkClient(endpoint = 'http://127.0.0.1', socketTimeout = 0): sdk.DynamoDBClient {
  return new sdk.DynamoDBClient({
    endpoint,
    credentials: CREDENTIALS,
    maxAttempts: 3,
    retryMode: 'standard',
    requestHandler: { requestTimeout: 1000, throwOnRequestTimeout: true, socketTimeout },
  });
}

/** The SDK's command for an action, for example `GetItemCommand` for `GetItem`. */
function commandOf(action: Action, input: unknown) {
  const Command = (sdk as unknown as Record<string, new (input: unknown) => sdk.GetItemCommand>)[`${action}Command`];
  if (!Command) throw new Error(`The SDK has no command for ${action}.`);
  return new Command(input);
}

type Sent = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string };

const signer = await sdkClient().config.signer();

/** AWS requires `host` among them ("Create a signed AWS API request"). */
const SIGNED_HEADERS =
  'SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amz-target,';

/** The Authorization header that the SDK's signer computes for a sent request. */
async function authorizationOf({ method = '', url = '', headers, body }: Sent): Promise<unknown> {
  const { authorization = '', host = '' } = headers;
  const signedNames = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
  // The signer computes this header from the body.
  const names = signedNames.filter((name) => name !== 'x-amz-content-sha256');
  const iso = String(headers['x-amz-date']).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: host,
      path: url,
      query: {},
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(iso) },
  );
  return signed.headers['authorization'];
}

test.each(Object.entries(INPUTS) as [Action, fc.Arbitrary<unknown>][])(
  'sends the same request for %s as the SDK, with a valid signature',
  async (action, inputs) => {
    const requests: Sent[] = [];
    const { endpoint } = await startDatabase(async (request, response) => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body: await textOf(request) });
      respond(200, '{"ConsumedCapacity":{}}')(request, response);
    });
    const [client, dynamoDb] = [sdkClient(endpoint), clientOf(endpoint)];
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        requests.length = 0;
        await dynamoDb.send(action, input as Input<Action>, contextWith());
        await client.send(commandOf(action, { ...Object(input), ReturnConsumedCapacity: 'TOTAL' }));
        const [own, ofSdk] = requests.map(({ method, url, headers, body }) => ({
          method,
          url,
          target: headers['x-amz-target'],
          type: headers['content-type'],
          session: headers['x-amz-security-token'],
          body: JSON.parse(body),
        }));
        expect(own).toEqual(ofSdk);
        expect(requests[0]?.headers.authorization).toContain(SIGNED_HEADERS);
        for (const sent of requests) expect(await authorizationOf(sent)).toBe(sent.headers.authorization);
      }),
      // A fifth of the runs, because each of the ten actions has its own test.
      { numRuns: Math.ceil(RUNS / 5) },
    );
    client.destroy();
  },
);

/** The documented errors ("Error handling with DynamoDB", and the reference of each action). */
const ERRORS = [
  ...THROTTLING_ERRORS,
  ...['AccessDeniedException', 'ConditionalCheckFailedException', 'ExpiredTokenException', 'ValidationException'],
  ...['IdempotentParameterMismatchException', 'InvalidSignatureException', 'ItemCollectionSizeLimitExceededException'],
  ...['LimitExceededException', 'ResourceNotFoundException', 'TransactionCanceledException'],
  'TransactionConflictException',
];

const RESPONSES: [string, RequestListener][] = [
  ...Object.entries(FAILURES),
  ['success', respond(200, '{"ConsumedCapacity":{}}')],
  ...ERRORS.map((name): [string, RequestListener] => [name, failure(400, name)]),
  ['ServiceUnavailable', failure(503, 'ServiceUnavailable')],
  ['a 403 in HTML', respond(403, '<html></html>', { 'content-type': 'text/html' })],
  ['a 502', respond(502, '')],
];

/** The responses for which the number of attempts differs from the SDK's. */
const DIFFERENCES = [
  // Occurs only for actions on tables, such as CreateTable.
  'LimitExceededException',
  // Sent by a proxy, which may recover.
  ...['a 403 in HTML', 'responds with half a JSON document', 'responds with nothing'],
  ...['responds with an empty object', 'responds with null', 'responds with HTML'],
];

/** The number of attempts that the SDK makes. */
async function attemptsOfSdk(listener: RequestListener, socketTimeout: number): Promise<number> {
  const { endpoint, attempts } = await startDatabase(listener);
  const client = sdkClient(endpoint, socketTimeout);
  await client.send(commandOf('GetItem', READ)).catch(() => {});
  client.destroy();
  return attempts();
}

describe.concurrent('when the time is up', () => {
  beforeEach(() => {
    // A backoff of ten seconds.
    vi.spyOn(Math, 'random').mockReturnValue(20);
  });

  test.each([RESERVED_MS + 50, 100])('throws 504, with %i ms remaining', async (remainingMs) => {
    const start = performance.now();
    const { result } = await readFrom(() => {}, remainingMs);
    expect(result).toMatchObject({
      error: 504,
      message: 'The database took too long to respond. Try again.',
      cause: { name: 'AbortError' },
    });
    expect(performance.now() - start, 'milliseconds').toBeLessThan(2000);
  });

  test('ends the backoff, and makes no further attempt', async () => {
    const start = performance.now();
    const { result, attempts } = await readFrom(failure(400, 'ThrottlingException'), RESERVED_MS + 300);
    const cause = { name: 'ThrottlingException' };
    expect({ result, attempts }).toMatchObject({ result: { error: 504, cause }, attempts: 1 });
    expect(performance.now() - start, 'milliseconds').toBeLessThan(9000);
  });

  test('closes the connection, and makes no further attempt', async () => {
    let attempts = 0;
    const sockets: Socket[] = [];
    const { result } = await readFrom(async (request, response) => {
      attempts += 1;
      sockets.push(request.socket);
      // Responds too late to cause another attempt.
      await sleep(100);
      failure(400, 'ThrottlingException')(request, response);
    }, RESERVED_MS + 50);
    expect(result).toMatchObject({ error: 504 });
    await sleep(100);
    expect(attempts, 'attempts').toBeLessThanOrEqual(1);
    expect(
      sockets.filter((socket) => !socket.destroyed),
      'open sockets',
    ).toEqual([]);
  });
});

describe.each([
  ['short', Object.entries(TIMEOUTS), 0.25],
  // So that no attempt ends before its response, even on a busy machine.
  ['long', RESPONSES, 20],
])('with %s timeouts, makes as many attempts as the SDK, except where listed', (_, listeners, factor) => {
  const { setTimeout } = globalThis;
  beforeAll(() => {
    vi.stubGlobal('setTimeout', (callback: () => void, ms = 0) => setTimeout(callback, factor * ms));
  });
  afterAll(() => {
    vi.unstubAllGlobals();
  });

  test.concurrent.each(listeners)('%s', async (name, listener) => {
    // The SDK does not use the stub for its `socketTimeout`.
    const [own, ofSdk] = await Promise.all([
      readFrom(listener, 20 * FUNCTION_TIMEOUT_MS),
      attemptsOfSdk(listener, factor * 1000),
    ]);
    if (DIFFERENCES.includes(name)) expect(own.attempts, 'attempts').not.toBe(ofSdk);
    else expect(own.attempts, 'attempts').toBe(ofSdk);
    if (!(name in FAILURES || name in TIMEOUTS)) return;
    const message = 'The database failed or did not respond. Try again.';
    expect(own).toMatchObject({ result: { error: 503, message }, attempts: 3 });
  });
});
