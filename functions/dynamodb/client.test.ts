import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage, RequestListener } from 'node:http';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startIssuer } from '../../test/support/issuer.ts';
import { listen } from '../../tools/local/listen.ts';
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

/** Longer than any response takes on a busy machine. */
const LONG_MS = 20 * ATTEMPT_IDLE_TIMEOUT_MS;
const KEY = { id: { N: '1' } };
const read = (dynamoDb: DynamoDb, timeoutMs = LONG_MS) =>
  dynamoDb.call('GetItem', { TableName: 'Plants', Key: KEY }, KEY, timeoutMs);

/** Starts a fake DynamoDB, which ends with this file's process. Returns a client for it, and the requests to it. */
async function startDatabase(listener: RequestListener, idleTimeoutMs = LONG_MS) {
  const { url } = await listen(listener);
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = url;
  const dynamoDb = new DynamoDb(new Connection(idleTimeoutMs), async () => {});
  return { dynamoDb, requests: () => sent.filter((request) => request.getHeader('host') === new URL(url).host) };
}

const respond =
  (status: number, body: string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);

/** "ConsumedCapacity", Amazon DynamoDB API Reference. */
const SUCCESS = '{"ConsumedCapacity":{"TableName":"Plants"}}';
const success = respond(200, SUCCESS);
const errorBody = (name: string, more?: object) =>
  JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'said', ...more });

test('names the action, and signs each attempt as a request to DynamoDB in the region', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const credentials = { accessKeyId: 'the-id', secretAccessKey: 'the-secret', sessionToken: 'the-session' };
  const sha256 = Hash.bind(null, 'sha256');
  const signer = new SignatureV4({ service: 'dynamodb', region: 'eu-west-1', credentials, sha256 });
  const received: unknown[] = [];
  const expected: unknown[] = [];
  const { dynamoDb } = await startDatabase(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const [hostname, type, body] = [String(headers.host), 'application/x-amz-json-1.0', await text(request)];
    // "DynamoDB low-level API", Amazon DynamoDB Developer Guide.
    const target = 'DynamoDB_20120810.GetItem';
    const signed = { host: hostname, 'content-type': type, 'x-amz-target': target };
    expected.push((await signer.sign({ method, protocol: '', hostname, path, headers: signed, body })).headers);
    received.push(headers);
    // Lambda can freeze the environment between two attempts.
    vi.setSystemTime(new Date('2026-01-02T00:00:00Z'));
    (received.length === 1 ? respond(500, errorBody('InternalServerError')) : success)(request, response);
  });
  await read(dynamoDb);
  expect(received).toMatchObject(expected);
  expect(expected).toMatchObject([{ 'x-amz-date': '20260101T000000Z' }, { 'x-amz-date': '20260102T000000Z' }]);
});

/** Returns a connection on which each attempt gets this response, at once. */
function fakeConnection(status: number, text: string) {
  const socket = new Socket();
  const send: Connection['send'] = async (_action, _body, _discardIdleConnections, signal) => {
    signal.throwIfAborted();
    return { status, text, socket };
  };
  return { socket, send };
}

/** Reads over a fake connection. Returns the error, and the waits between attempts. */
async function errorOver(connection: Pick<Connection, 'send'>) {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => void vi.restoreAllMocks());
  const waits: number[] = [];
  const error = await read(new DynamoDb(connection, async (ms) => void waits.push(ms))).catch((thrown) => thrown);
  return { error, waits };
}

const FAILED = { error: 503, message: 'The database failed or did not respond. Try again.' };
const THROTTLED = { error: 429, message: 'The database is throttled. Try again a little later.' };
test.each([
  [400, 'ThrottlingException', THROTTLED, [250, 500]],
  [400, 'ProvisionedThroughputExceededException', THROTTLED, [250, 500]],
  [400, 'RequestLimitExceeded', THROTTLED, [250, 500]],
  [500, 'InternalServerError', FAILED, [25, 50]],
])('for status %i and %s throws %j, after waits for a random time, and then for twice as long', async (...row) => {
  const [status, name, error, waits] = row;
  const expected = { error: { ...error, cause: { name } }, waits };
  expect(await errorOver(fakeConnection(status, errorBody(name)))).toMatchObject(expected);
});

test('throws any other error of DynamoDB unchanged, after one attempt', async () => {
  const body = '{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"said"}';
  const expected = { error: { name: 'AccessDeniedException', message: 'said' }, waits: [] };
  expect(await errorOver(fakeConnection(400, body))).toMatchObject(expected);
});

/** The response to a request with another key. */
const OTHER = { Item: { id: { N: '10' } } };
test.each([
  ['has status 500', 500, SUCCESS],
  ['is HTML', 403, '<html>secret</html>'],
  ['has no capacity', 200, '{"Item":{"id":{"N":"1"},"name":{"S":"secret"}}}'],
  ['has another table', 200, '{"ConsumedCapacity":{"TableName":"AccessTokens"}}'],
  ['has an item with another key', 200, JSON.stringify({ ...JSON.parse(SUCCESS), ...OTHER })],
  ['has a failed condition of another key', 400, errorBody('ConditionalCheckFailedException', OTHER)],
  ['has a failed condition without an item', 400, errorBody('ConditionalCheckFailedException')],
])('throws 503 if the response %s, does not quote it, and closes its connection', async (_, status, body) => {
  const connection = fakeConnection(status, body);
  const error = { ...FAILED, cause: { message: expect.not.stringContaining('secret') } };
  expect(await errorOver(connection)).toMatchObject({ error, waits: [25, 50] });
  expect(connection.socket.destroyed).toBe(true);
});

test('throws 504 with the last error of DynamoDB if the time is up while it waits for the next attempt', async () => {
  // The wait is 1,000 times as long as the longest.
  vi.spyOn(Math, 'random').mockReturnValue(1000);
  onTestFinished(() => void vi.restoreAllMocks());
  const { send } = fakeConnection(400, errorBody('ThrottlingException'));
  const error = { error: 504, cause: { name: 'ThrottlingException', message: 'said' } };
  await expect(read(new DynamoDb({ send }), 100)).rejects.toMatchObject(error);
});

const stallInBody: RequestListener = (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{');
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
  ['aborts its response', abortInBody],
  ['sends more than 3 MB', respond(200, `${SUCCESS}${' '.repeat(3_000_000)}`)],
])('throws 503 if the database %s, after three attempts, and leaves no connection open', async (_, listener) => {
  const { dynamoDb, requests } = await startDatabase(listener, 500);
  await expect(read(dynamoDb)).rejects.toMatchObject(FAILED);
  await vi.waitFor(() => expect(requests().map(({ destroyed }) => destroyed)).toEqual([true, true, true]));
});

test('throws 503 if the certificate of the database is for another host', async () => {
  const { url, respondWith, close } = await startIssuer();
  onTestFinished(close);
  respondWith(success);
  const readFrom = (endpoint: string) => {
    process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
    return read(new DynamoDb(new Connection(LONG_MS)));
  };
  // The certificate is for 127.0.0.1.
  await readFrom(url);
  const error = { error: 503, cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } };
  await expect(readFrom(url.replace('127.0.0.1', 'localhost'))).rejects.toMatchObject(error);
});

test.concurrent('reads a response of 2.46 MB, the longest item', async () => {
  const { dynamoDb } = await startDatabase(respond(200, `${SUCCESS}${' '.repeat(2_460_000)}`));
  expect(await read(dynamoDb)).toBeUndefined();
});

test('sends 300 parallel calls at once; if their connections are dead, tries one, and then uses a new one', async () => {
  const connections = new Set<Socket>();
  const waiting: Parameters<RequestListener>[] = [];
  const { dynamoDb, requests } = await startDatabase((request, response) => {
    connections.add(request.socket);
    if (connections.size > 300) return success(request, response);
    if (waiting.length === 300) return void request.socket.destroy();
    if (waiting.push([request, response]) === 300) for (const exchange of waiting) success(...exchange);
  });
  await Promise.all(Array.from({ length: 300 }, () => read(dynamoDb)));
  for (const _ of [1, 2]) await read(dynamoDb);
  expect(connections.size, 'connections').toBe(300 + 1);
  expect(requests(), 'requests').toHaveLength(300 + 2 + 1);
});

test('leaves no timer that keeps the process running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  await read((await startDatabase(success)).dynamoDb);
  expect(timers()).toBeLessThanOrEqual(before);
});

test('reads a response that arrives slowly, in parts of a character, while it is not idle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const item = { ...KEY, name: { S: '🌱'.repeat(9) } };
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(SUCCESS), Item: item }));
  const { dynamoDb } = await startDatabase(async (_, response) => {
    vi.advanceTimersByTime(LONG_MS - 1);
    response.flushHeaders();
    const received = await new Promise<IncomingMessage>((resolve) => sent.at(-1)?.once('response', resolve));
    for (let start = 0; start < body.length; start += 9) {
      vi.advanceTimersByTime(LONG_MS - 1);
      response.write(body.subarray(start, start + 9));
      await new Promise((resolve) => received.once('data', resolve));
    }
    response.end();
  });
  expect(await read(dynamoDb)).toEqual(item);
});

test('throws if an environment variable is missing or empty', () => {
  vi.stubEnv('AWS_REGION', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => new DynamoDb()).toThrow('The environment variable AWS_REGION is missing or empty; the stack or Lambda');
});

test.each([300.8, -100])('throws 504 if a complete response takes longer than %d ms', async (timeoutMs) => {
  for (const listener of [() => {}, stallInBody]) {
    const error = { error: 504, message: 'The database took too long to respond. Try again.' };
    await expect(read((await startDatabase(listener)).dynamoDb, timeoutMs)).rejects.toMatchObject(error);
  }
});
