import { subscribe } from 'node:diagnostics_channel';
import { type ClientRequest, createServer, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { listenOnFreePort } from '../../test/support/listen-on-free-port.ts';
import { signatureFault } from '../../test/support/signature.ts';
import { ATTEMPT_SILENCE_MS } from '../time-limits.ts';
import { DynamoDb } from './client.ts';

Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'the-id',
  AWS_SECRET_ACCESS_KEY: 'the-secret',
  AWS_SESSION_TOKEN: 'the-session',
});

beforeEach(() => {
  // The shortest backoff.
  vi.spyOn(Math, 'random').mockReturnValue(0);
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
  return { host, dynamoDb: new DynamoDb(silenceMs) };
}

const READ = { TableName: 'Plants', Key: { id: { N: '1' } } };

/** Reads an item from a fake DynamoDB. Returns the result and the number of attempts. */
async function readFrom(listener: RequestListener, { silenceMs = LONG_MS, timeoutMs = LONG_MS } = {}) {
  const { host, dynamoDb } = await startDatabase(listener, silenceMs);
  const result = await dynamoDb.call('GetItem', READ, timeoutMs).catch((thrown: Error) => thrown);
  return { result, attempts: sentTo.filter((sent) => sent === host).length };
}

const respond =
  (status: number, body: string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);

const success = respond(200, '{"ConsumedCapacity":{}}');
const failure = (status: number, name: string) =>
  respond(status, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'said' }));

const stallInBody: RequestListener = (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{');

test('sends a signed request, and signs each attempt', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const requests: object[] = [];
  const faults: unknown[] = [];
  const { dynamoDb } = await startDatabase(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const bytes = await buffer(request);
    faults.push(signatureFault({ method, path, headers, bytes }));
    requests.push({ method, path, headers, body: JSON.parse(String(bytes)) });
    // Lambda can freeze the environment between two attempts.
    vi.setSystemTime(new Date('2026-01-02T00:00:00Z'));
    (requests.length === 1 ? failure(500, 'InternalServerError') : success)(request, response);
  });
  await dynamoDb.call('GetItem', READ, LONG_MS);
  for (const fault of faults) expect(fault).toBeUndefined();
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

test.each([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
])('throws 429 for %s, after three attempts', async (name) => {
  const message = 'The database is throttled. Try again a little later.';
  const result = { error: 429, message, cause: { name } };
  expect(await readFrom(failure(400, name))).toMatchObject({ result, attempts: 3 });
});

test('waits for a random time after throttling: here 20 % of 500 ms, and then of 1000 ms', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.2);
  const start = performance.now();
  await readFrom(failure(400, 'ThrottlingException'));
  // A timer can be a millisecond early.
  expect(performance.now() - start).toBeGreaterThan(100 + 200 - 10);
  expect(random).toHaveBeenCalledTimes(2);
});

test.each([
  ['{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"said"}'],
  ['{"__type":"AccessDeniedException","message":"said"}'],
])('throws the DynamoDB error %s unchanged, after one attempt', async (body) => {
  const result = { name: 'AccessDeniedException', message: 'said' };
  expect(await readFrom(respond(400, body))).toMatchObject({ result, attempts: 1 });
});

/** Ends only by a timeout. */
const HANGS: [string, RequestListener][] = [
  ['never responds', () => {}],
  [
    'sends headers without end',
    ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-slow: x\r\n'), 50);
      socket.once('close', () => clearInterval(timer));
    },
  ],
  ['stalls within its response', stallInBody],
  [
    'switches protocols',
    ({ socket }) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  ],
];

const FAILURES: [string, RequestListener][] = [
  ['responds with 500', failure(500, 'InternalServerError')],
  ['responds with 500 and a capacity', respond(500, '{"ConsumedCapacity":{}}')],
  ['responds with 403 in HTML', respond(403, '<html></html>')],
  ['responds with an empty 502', respond(502, '')],
  ['resets the connection', (request) => request.socket.destroy()],
  [
    'aborts its response',
    (_, response) => {
      response.writeHead(200, { 'content-length': 99 }).write('{');
      sleep(20).then(() => response.destroy());
    },
  ],
  ['responds with half a JSON document', respond(200, '{"Item":')],
  ['responds with nothing', respond(200, '')],
  ['responds with an empty object', respond(200, '{}')],
  ['responds with null', respond(200, 'null')],
  ['sends more than 16 MB', respond(200, `{"ConsumedCapacity":{}}${' '.repeat(16_000_000)}`)],
  ['names its error by 300,000 characters', respond(500, `{"__type":"${'x'.repeat(300_000)}"}`)],
];

test.concurrent.each([
  ...HANGS.map(([title, listener]) => ({ title, listener, silenceMs: 200 })),
  ...FAILURES.map(([title, listener]) => ({ title, listener, silenceMs: LONG_MS })),
])('throws 503 if the database $title, after three attempts', async ({ listener, silenceMs }) => {
  const result = { error: 503, message: 'The database failed or did not respond. Try again.' };
  expect(await readFrom(listener, { silenceMs })).toMatchObject({ result, attempts: 3 });
});

test('throws 503 if the connection is refused', async () => {
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = 'http://127.0.0.1:1';
  const call = new DynamoDb().call('GetItem', READ, LONG_MS);
  await expect(call).rejects.toMatchObject({ error: 503, cause: { code: 'ECONNREFUSED' } });
});

test.each(['{"Item":{"name":{"S":"secret"}}}', '{"Item":{"name":{"S":"secret"}'])(
  'does not include the invalid response %s in the error',
  async (body) => {
    const { result } = await readFrom(respond(200, body));
    const message = `The response with status 200 and ${body.length} characters is not DynamoDB's.`;
    expect(result).toMatchObject({ cause: { message } });
  },
);

test('sends 300 parallel calls at once', async () => {
  const responses: Parameters<RequestListener>[] = [];
  const { dynamoDb } = await startDatabase((...exchange) => {
    if (responses.push(exchange) === 300) for (const waiting of responses) success(...waiting);
  });
  const calls = Array.from({ length: 300 }, () => dynamoDb.call('GetItem', READ, LONG_MS));
  expect(await Promise.all(calls)).toHaveLength(300);
});

test('reuses the connection for the next call, and leaves no timer that keeps the process running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const ports = new Set<number | undefined>();
  const { dynamoDb } = await startDatabase((request, response) => {
    ports.add(request.socket.remotePort);
    success(request, response);
  });
  const before = timers();
  for (let call = 0; call < 3; call += 1) await dynamoDb.call('GetItem', READ, LONG_MS);
  expect(ports.size, 'connections').toBe(1);
  expect(timers(), 'timers').toBeLessThanOrEqual(before);
});

test('waits for a response that arrives slowly, as long as it is not silent', async () => {
  const { attempts, result } = await readFrom(
    async (_, response) => {
      for (const part of '{"ConsumedCapacity":{}}'.match(/.{1,2}/g) ?? []) {
        response.write(part);
        await sleep(100);
      }
      response.end();
    },
    { silenceMs: 1000 },
  );
  expect({ attempts, result }).toEqual({ attempts: 1, result: {} });
});

test('throws if an environment variable is missing or empty', () => {
  vi.stubEnv('AWS_REGION', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => new DynamoDb()).toThrow(
    'The environment variable AWS_REGION is missing or empty; the stack or Lambda must set it.',
  );
});

test.each([50, 0, -100])('throws 504 if the time is %i ms and the database does not respond', async (timeoutMs) => {
  const result = { error: 504, message: 'The database took too long to respond. Try again.' };
  expect(await readFrom(() => {}, { timeoutMs })).toMatchObject({ result });
});

/** Ends the time for all attempts. */
let endTime: () => void;
const THROTTLED = failure(400, 'ThrottlingException');
test.each<[string, RequestListener, object]>([
  ['after the headers', (_, response) => response.writeHead(200).write('{', endTime), { name: 'AbortError' }],
  ['during the wait for the next attempt', THROTTLED, { name: 'ThrottlingException' }],
])('throws 504 with the cause, and makes no further attempt, if the time ends %s', async (_, listener, cause) => {
  const time = new AbortController();
  endTime = () => time.abort();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(time.signal);
  // Otherwise the wait would take ten seconds.
  vi.spyOn(Math, 'random').mockImplementation(() => {
    setImmediate(endTime);
    return 20;
  });
  expect(await readFrom(listener)).toMatchObject({ result: { error: 504, cause }, attempts: 1 });
});
