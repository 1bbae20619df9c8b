import { subscribe } from 'node:diagnostics_channel';
import { type ClientRequest, createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listenOnFreePort } from '../../test/support/listen-on-free-port.ts';
import { signatureProblem } from '../../test/support/signature.ts';
import { ATTEMPT_SILENCE_MS } from '../time-limits.ts';
import { DynamoDb } from './client.ts';
import { Connection } from './connection.ts';

Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'the-id',
  AWS_SECRET_ACCESS_KEY: 'the-secret',
  AWS_SESSION_TOKEN: 'the-session',
});

/** The host to which each request of this process was sent. On a busy machine, a request can end before it arrives. */
const sentTo: unknown[] = [];
subscribe('http.client.request.start', (message) => {
  sentTo.push((message as { request: ClientRequest }).request.getHeader('host'));
});

/** Longer than any response takes on a busy machine. */
const LONG_MS = 20 * ATTEMPT_SILENCE_MS;

/** Starts a fake DynamoDB, which ends with this file's process. Returns its host and a client for it. */
async function startDatabase(listener: RequestListener, silenceMs = LONG_MS) {
  const host = await listenOnFreePort(createServer(listener));
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = `http://${host}`;
  return { host, dynamoDb: new DynamoDb(new Connection(silenceMs)) };
}

const KEY = { id: { N: '1' } };
const READ = { TableName: 'Plants', Key: KEY };

/** Reads an item from a fake DynamoDB. Returns the result and the number of attempts. */
async function readFrom(listener: RequestListener, { silenceMs = LONG_MS, timeoutMs = LONG_MS } = {}) {
  const { host, dynamoDb } = await startDatabase(listener, silenceMs);
  const result = await dynamoDb.call('GetItem', READ, KEY, timeoutMs).catch((thrown: Error) => thrown);
  return { result, attempts: sentTo.filter((sent) => sent === host).length };
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
const THROTTLED = failure(400, 'ThrottlingException');
/** The responses to requests with another key. */
const OTHER = { Item: { id: { N: '10' } } };
const failedCondition = (more?: object) => failure(400, 'ConditionalCheckFailedException', more);

const stallInBody: RequestListener = (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{');

test('sends a signed request, and signs each attempt', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const requests: object[] = [];
  const problems: unknown[] = [];
  const { dynamoDb } = await startDatabase(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const bytes = await buffer(request);
    problems.push(signatureProblem({ method, path, headers, bytes }));
    requests.push({ method, path, headers, body: JSON.parse(String(bytes)) });
    // Lambda can freeze the environment between two attempts.
    vi.setSystemTime(new Date('2026-01-02T00:00:00Z'));
    (requests.length === 1 ? failure(500, 'InternalServerError') : success)(request, response);
  });
  await dynamoDb.call('GetItem', READ, KEY, LONG_MS);
  for (const problem of problems) expect(problem).toBeUndefined();
  const sentOn = (day: string) => ({
    method: 'POST',
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-date': `${day}T000000Z`,
      'x-amz-security-token': 'the-session',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
    },
    body: { ...READ, ReturnConsumedCapacity: 'TOTAL' },
  });
  expect(requests).toMatchObject([sentOn('20260101'), sentOn('20260102')]);
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

test.concurrent('waits for a random time after throttling, but not longer than the call may take', async () => {
  const { dynamoDb } = await startDatabase(THROTTLED);
  // A call waits for up to 1.5 s in total. It may take from 0.2 to 7.8 s, because a busy machine needs more time.
  const calls = Array.from({ length: 40 }, async (_, index) => {
    const start = performance.now();
    const thrown = await dynamoDb.call('GetItem', READ, KEY, 200 + 5 * index ** 2).catch((error) => error);
    return { result: `${thrown.error} ${thrown.cause?.name}`, ms: performance.now() - start };
  });
  const results = await Promise.all(calls);
  const { '429 ThrottlingException': throttled = [], ...late } = Object.groupBy(results, ({ result }) => result);
  expect(Object.keys(late)).toContain('504 ThrottlingException');
  // If there was no response in this time, the cause is an AbortError.
  expect(Object.keys(late).filter((result) => !result.startsWith('504 '))).toEqual([]);
  const durations = throttled.map(({ ms }) => ms);
  expect(Math.max(...durations) - Math.min(...durations)).toBeGreaterThan(300);
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
  expect(await readFrom(listener, { silenceMs: 500 })).toMatchObject({ result, attempts: 3 });
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
  expect(sentTo.filter((sent) => sent === host)).toHaveLength(300 + 2 + 1);
});

test('reuses the connection for the next call, and leaves no timer that keeps the process running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const ports = new Set<number | undefined>();
  const { dynamoDb } = await startDatabase((request, response) => {
    ports.add(request.socket.remotePort);
    success(request, response);
  });
  const before = timers();
  for (let call = 0; call < 3; call += 1) await dynamoDb.call('GetItem', READ, KEY, LONG_MS);
  expect(ports.size, 'connections').toBe(1);
  expect(timers(), 'timers').toBeLessThanOrEqual(before);
});

test.concurrent('reads a response that arrives slowly, in parts of a character, while it is not silent', async () => {
  const item = { ...KEY, name: { S: '🌱'.repeat(9) } };
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(SUCCESS), Item: item }));
  const sendSlowly: RequestListener = async (_, response) => {
    for (let start = 0; start < body.length; start += 9) {
      response.write(body.subarray(start, start + 9));
      await sleep(100);
    }
    response.end();
  };
  expect(await readFrom(sendSlowly, { silenceMs: 1000 })).toEqual({ attempts: 1, result: item });
});

test('does not take the response to another request for its own, and closes that connection', async () => {
  // The first three connections are one response behind: the first response on each is that to a read of a token.
  const connections: Socket[] = [];
  const { dynamoDb } = await startDatabase((request, response) => {
    const isFirst = !connections.includes(request.socket);
    if (isFirst) connections.push(request.socket);
    const isOfOther = isFirst && connections.length <= 3;
    response.end(isOfOther ? '{"ConsumedCapacity":{"TableName":"AccessTokens"}}' : SUCCESS);
  });
  const write = () => dynamoDb.call('PutItem', { TableName: 'Plants', Item: KEY }, KEY, LONG_MS);
  await expect(write()).rejects.toMatchObject({ error: 503 });
  await write();
  expect(connections.length, 'connections').toBe(4);
});

test('throws if an environment variable is missing or empty', () => {
  vi.stubEnv('AWS_REGION', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => new DynamoDb()).toThrow('The environment variable AWS_REGION is missing or empty; the stack or Lambda');
});

test.each([300, 0, -100])('throws 504 if a complete response takes longer than %i ms', async (timeoutMs) => {
  for (const listener of [() => {}, stallInBody]) {
    const result = { error: 504, message: 'The database took too long to respond. Try again.' };
    expect(await readFrom(listener, { timeoutMs })).toMatchObject({ result });
  }
});
