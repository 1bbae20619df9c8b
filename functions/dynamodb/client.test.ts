import { subscribe } from 'node:diagnostics_channel';
import { type ClientRequest, createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startIssuer } from '../../test/support/issuer.ts';
import { listenOnFreePort } from '../../test/support/listen-on-free-port.ts';
import { signatureProblem } from '../../test/support/signature.ts';
import { ATTEMPT_IDLE_TIMEOUT_MS } from '../time-limits.ts';
import { DynamoDb } from './client.ts';
import { Connection } from './connection.ts';

Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'the-id',
  AWS_SECRET_ACCESS_KEY: 'the-secret',
  AWS_SESSION_TOKEN: 'the-session',
});

/** The requests that this process has sent. On a busy machine, a request can end before it arrives. */
const sent: ClientRequest[] = [];
subscribe('http.client.request.start', (message) => void sent.push((message as { request: ClientRequest }).request));
const sentTo = (host: string) => sent.filter((request) => request.getHeader('host') === host);

/** Longer than any response takes on a busy machine. */
const LONG_MS = 20 * ATTEMPT_IDLE_TIMEOUT_MS;

/** Starts a fake DynamoDB, which ends with this file's process. Returns its host and a client for it. */
async function startDatabase(listener: RequestListener, idleTimeoutMs = LONG_MS) {
  const host = await listenOnFreePort(createServer(listener));
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = `http://${host}`;
  return { host, dynamoDb: new DynamoDb(new Connection(idleTimeoutMs)) };
}

const KEY = { id: { N: '1' } };
const READ = { TableName: 'Plants', Key: KEY };

/** Reads an item from a fake DynamoDB. Returns the result and the number of attempts. */
async function readFrom(listener: RequestListener, { idleTimeoutMs = LONG_MS, timeoutMs = LONG_MS } = {}) {
  const { host, dynamoDb } = await startDatabase(listener, idleTimeoutMs);
  const result = await dynamoDb.call('GetItem', READ, KEY, timeoutMs).catch((thrown: Error) => thrown);
  return { result, attempts: sentTo(host).length };
}

const respond =
  (status: number, body: string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);

/** "ConsumedCapacity", Amazon DynamoDB API Reference. */
const SUCCESS = '{"ConsumedCapacity":{"TableName":"Plants"}}';
const success = respond(200, SUCCESS);
const failure = (status: number, name: string, more: object = {}) =>
  respond(status, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'said', ...more }));
/** The responses to requests with another key. */
const OTHER = { Item: { id: { N: '10' } } };
const failedCondition = (more?: object) => failure(400, 'ConditionalCheckFailedException', more);

const stallInBody: RequestListener = (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{');

test('names the action, and signs each attempt, with the session token', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const received: unknown[] = [];
  await readFrom(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const problem = signatureProblem({ method, path, headers, bytes: await buffer(request) });
    received.push([headers['x-amz-target'], headers['x-amz-date'], headers['x-amz-security-token'], problem]);
    // Lambda can freeze the environment between two attempts.
    vi.setSystemTime(new Date('2026-01-02T00:00:00Z'));
    (received.length === 1 ? failure(500, 'InternalServerError') : success)(request, response);
  });
  // "DynamoDB low-level API", Amazon DynamoDB Developer Guide.
  const target = 'DynamoDB_20120810.GetItem';
  const dates = ['20260101T000000Z', '20260102T000000Z'];
  expect(received).toEqual(dates.map((date) => [target, date, 'the-session', undefined]));
});

test.concurrent.each([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
])('throws 429 for %s, after three attempts', async (name) => {
  const message = 'The database is throttled. Try again a little later.';
  const result = { error: 429, message, cause: { name } };
  expect(await readFrom(failure(400, name))).toMatchObject({ result, attempts: 3 });
});

/** Returns a connection on which each attempt gets this error, at once. */
const failingConnection = (status: number, name: string): Pick<Connection, 'send'> => ({
  async send(_action, _body, _onNewConnection, signal) {
    signal.throwIfAborted();
    return { status, text: JSON.stringify({ __type: name, message: 'said' }), socket: new Socket() };
  },
});

test.each([
  [400, 'ThrottlingException', [250, 500]],
  [500, 'InternalServerError', [25, 50]],
])('after status %i and %s, waits for a random time, and then for twice as long', async (status, name, waits) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => void vi.restoreAllMocks());
  const wait = vi.fn(async (_ms: number) => {});
  await new DynamoDb(failingConnection(status, name), wait).call('GetItem', READ, KEY, LONG_MS).catch(() => {});
  expect(wait.mock.calls.map(([ms]) => ms)).toEqual(waits);
});

test('throws 504 with the last error of DynamoDB if the time is up while it waits for the next attempt', async () => {
  // The wait is 1,000 times as long as the longest.
  vi.spyOn(Math, 'random').mockReturnValue(1000);
  onTestFinished(() => void vi.restoreAllMocks());
  const dynamoDb = new DynamoDb(failingConnection(400, 'ThrottlingException'));
  const error = { error: 504, cause: { name: 'ThrottlingException', message: 'said' } };
  await expect(dynamoDb.call('GetItem', READ, KEY, 100)).rejects.toMatchObject(error);
});

test.concurrent.each([
  ['{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"said"}'],
  ['{"__type":"AccessDeniedException","message":"said"}'],
])('throws the DynamoDB error %s unchanged, after one attempt', async (body) => {
  const result = { name: 'AccessDeniedException', message: 'said' };
  expect(await readFrom(respond(400, body))).toMatchObject({ result, attempts: 1 });
});

const sendHeadersWithoutEnd: RequestListener = ({ socket }) => {
  socket.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket.write('x-slow: x\r\n'), 50);
  socket.once('close', () => clearInterval(timer));
};
const SWITCH_PROTOCOLS = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
const abortInBody: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': 99 }).write('{');
  sleep(20).then(() => response.destroy());
};

test.concurrent.each<[string, RequestListener]>([
  ['never responds', () => {}],
  ['sends headers without end', sendHeadersWithoutEnd],
  ['stalls within its response', stallInBody],
  ['switches protocols', ({ socket }) => void socket.end(SWITCH_PROTOCOLS)],
  ['resets the connection', (request) => request.socket.destroy()],
  ['aborts its response', abortInBody],
  ['responds with 500', failure(500, 'InternalServerError')],
  ['responds with 500 and the capacity', respond(500, SUCCESS)],
  ['responds with 403 in HTML', respond(403, '<html>secret</html>')],
  ['responds with nothing', respond(200, '')],
  ['returns no capacity', respond(200, '{"Item":{"name":{"S":"secret"}}}')],
  ['returns no name of a table', respond(200, '{"ConsumedCapacity":{"CapacityUnits":1}}')],
  ['names another table', respond(200, '{"ConsumedCapacity":{"TableName":"AccessTokens"}}')],
  ['returns an item with another key', respond(200, JSON.stringify({ ...JSON.parse(SUCCESS), ...OTHER }))],
  ['returns a failed condition of another key', failedCondition(OTHER)],
  ['returns a failed condition without an item', failedCondition()],
  ['sends more than 3 MB', respond(200, `${SUCCESS}${' '.repeat(3_000_000)}`)],
  ['names its error by 300,000 characters', respond(500, `{"__type":"${'x'.repeat(300_000)}"}`)],
])('throws 503 if the database %s, after three attempts, and does not quote it', async (_, listener) => {
  const cause = { message: expect.not.stringContaining('secret') };
  const result = { error: 503, message: 'The database failed or did not respond. Try again.', cause };
  expect(await readFrom(listener, { idleTimeoutMs: 500 })).toMatchObject({ result, attempts: 3 });
});

test.concurrent.each<[string, RequestListener]>([
  ['never responds', () => {}],
  ['stalls within its response', stallInBody],
])('destroys each request if the database %s, so that no connection stays open', async (_, listener) => {
  const { host, dynamoDb } = await startDatabase(listener, 500);
  await dynamoDb.call('GetItem', READ, KEY, LONG_MS).catch(() => {});
  expect(sentTo(host).map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
});

test('throws 503 if the certificate of the database is for another host', async () => {
  const { url, respondWith, close } = await startIssuer();
  onTestFinished(close);
  respondWith(success);
  const read = (endpoint: string) => {
    process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
    return new DynamoDb(new Connection(LONG_MS)).call('GetItem', READ, KEY, LONG_MS);
  };
  // The certificate is for 127.0.0.1.
  await read(url);
  const error = { error: 503, cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } };
  await expect(read(url.replace('127.0.0.1', 'localhost'))).rejects.toMatchObject(error);
});

test.concurrent('reads a response of 2.46 MB, the longest item', async () => {
  const longest = respond(200, `${SUCCESS}${' '.repeat(2_460_000)}`);
  expect(await readFrom(longest)).toEqual({ attempts: 1, result: undefined });
});

test('sends 300 parallel calls at once; if their connections are dead, tries one, and then uses a new one', async () => {
  const connections = new Set<Socket>();
  const waiting: Parameters<RequestListener>[] = [];
  const { host, dynamoDb } = await startDatabase((request, response) => {
    connections.add(request.socket);
    if (connections.size > 300) return success(request, response);
    if (waiting.length === 300) return void request.socket.destroy();
    if (waiting.push([request, response]) === 300) for (const exchange of waiting) success(...exchange);
  });
  await Promise.all(Array.from({ length: 300 }, () => dynamoDb.call('GetItem', READ, KEY, LONG_MS)));
  for (const _ of [1, 2]) await dynamoDb.call('GetItem', READ, KEY, LONG_MS);
  expect(connections.size, 'connections').toBe(300 + 1);
  expect(sentTo(host), 'requests').toHaveLength(300 + 2 + 1);
});

test('leaves no timer that keeps the process running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  await readFrom(success);
  expect(timers()).toBeLessThanOrEqual(before);
});

test('reads a response that arrives slowly, in parts of a character, while it is not idle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const item = { ...KEY, name: { S: '🌱'.repeat(9) } };
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(SUCCESS), Item: item }));
  const sendSlowly: RequestListener = async (_, response) => {
    vi.advanceTimersByTime(LONG_MS - 1);
    response.flushHeaders();
    const received = await new Promise<IncomingMessage>((resolve) => sent.at(-1)?.once('response', resolve));
    for (let start = 0; start < body.length; start += 9) {
      vi.advanceTimersByTime(LONG_MS - 1);
      response.write(body.subarray(start, start + 9));
      await new Promise((resolve) => received.once('data', resolve));
    }
    response.end();
  };
  expect(await readFrom(sendSlowly)).toEqual({ attempts: 1, result: item });
});

test('closes a connection on which the response to another request arrives', async () => {
  const connections = new Set<Socket>();
  const { dynamoDb } = await startDatabase((request, response) => {
    connections.add(request.socket);
    response.end('{"ConsumedCapacity":{"TableName":"AccessTokens"}}');
  });
  for (const _ of [1, 2]) await dynamoDb.call('GetItem', READ, KEY, LONG_MS).catch(() => {});
  expect(connections.size, 'connections').toBe(2 * 3);
});

test('throws if an environment variable is missing or empty', () => {
  vi.stubEnv('AWS_REGION', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => new DynamoDb()).toThrow('The environment variable AWS_REGION is missing or empty; the stack or Lambda');
});

test.each([300.8, -100])('throws 504 if a complete response takes longer than %d ms', async (timeoutMs) => {
  for (const listener of [() => {}, stallInBody]) {
    const result = { error: 504, message: 'The database took too long to respond. Try again.' };
    expect(await readFrom(listener, { timeoutMs })).toMatchObject({ result });
  }
});
