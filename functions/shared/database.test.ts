import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import { contextWith } from '../../test/support/event.ts';
import { Database } from './database.ts';

let stop: (() => void) | undefined;
afterEach(() => {
  stop?.();
  vi.restoreAllMocks();
});

const read = () => new GetItemCommand({ TableName: 'Plants', Key: { id: { N: '1' } } });

/** What the database makes of such an outcome of the SDK's. */
function sendWhere(outcome: () => Promise<unknown>, remainingMs?: number) {
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(outcome);
  return new Database().send(read(), contextWith(remainingMs));
}

/** Reads an item from a database that answers like this; the number of attempts that it saw. */
async function readFrom(listener: RequestListener, remainingMs = 10_000) {
  let attempts = 0;
  const server = createServer((request, response) => {
    attempts += 1;
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => {
    server.closeAllConnections();
    server.close();
  };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  const outcome = await new Database().send(read(), contextWith(remainingMs)).catch((error: Error) => error);
  return { outcome, attempts };
}

const answer =
  (status: number, body: string, headers = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers }).end(body);

const failure = (status: number, name: string) =>
  answer(status, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'said' }));

test.each([
  ['ThrottlingException', 429],
  ['ProvisionedThroughputExceededException', 429],
  ['RequestLimitExceeded', 429],
])('%s is a 429 after three attempts', async (name, error) => {
  const { outcome, attempts } = await readFrom(failure(400, name));
  expect(outcome).toMatchObject({
    error,
    message: 'The database is throttled. Repeating the request a little later is safe.',
    cause: { name },
  });
  expect(attempts).toBe(3);
});

test.each<[string, RequestListener]>([
  ['answers 500', failure(500, 'InternalServerError')],
  ['answers 503 in HTML', answer(503, '<html>busy</html>', { 'content-type': 'text/html' })],
  ['resets the connection', (request) => request.socket.destroy()],
  ['never answers', () => {}],
  [
    'drips its headers',
    ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-slow: x\r\n'), 200);
      socket.once('close', () => clearInterval(timer));
    },
  ],
  ['stalls within its answer', (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{')],
])('a database that %s is a 503 after three attempts', async (_, listener) => {
  const { outcome, attempts } = await readFrom(listener);
  expect(outcome).toMatchObject({ error: 503, message: 'The database did not answer. Repeating the request is safe.' });
  expect(attempts).toBe(3);
});

test.each([
  ['half a JSON document', answer(200, '{"Item":')],
  ['nothing', answer(200, '')],
  ['an empty object', answer(200, '{}')],
  ['HTML', answer(200, '<html></html>')],
])('a 200 with %s, which is not DynamoDB’s, is asked for once more and then a 503', async (_, listener) => {
  const { outcome, attempts } = await readFrom(listener);
  expect(outcome).toMatchObject({ error: 503, cause: expect.any(SyntaxError) });
  expect(attempts).toBe(2);
});

test('a garbled answer followed by a whole one is no failure', async () => {
  let first = true;
  const { outcome } = await readFrom((request, response) => {
    answer(200, first ? '{"Consumed' : '{"ConsumedCapacity":{"CapacityUnits":1}}')(request, response);
    first = false;
  });
  expect(outcome).toMatchObject({ ConsumedCapacity: { CapacityUnits: 1 } });
});

test('what the database refuses comes as the SDK threw it', async () => {
  const { outcome, attempts } = await readFrom(failure(400, 'AccessDeniedException'));
  expect(outcome).toMatchObject({ name: 'AccessDeniedException', message: 'said' });
  expect(attempts).toBe(1);
});

test('when time is up it is a 504, whatever the database does', async () => {
  const start = performance.now();
  const { outcome } = await readFrom(() => {}, 4200);
  expect(outcome).toMatchObject({
    error: 504,
    message: 'The database took too long to answer. Repeating the request is safe.',
  });
  expect(performance.now() - start).toBeLessThan(2000);
});

test('no attempt is made once time is up, and its connection is given up with it', async () => {
  let attempts = 0;
  const sockets: Socket[] = [];
  const { outcome } = await readFrom(async (request, response) => {
    attempts += 1;
    sockets.push(request.socket);
    // Longer than there is time: what it then provokes comes too late.
    await sleep(400);
    failure(400, 'ThrottlingException')(request, response);
  }, 4200);
  expect(outcome).toMatchObject({ error: 504 });
  await sleep(2000);
  expect(attempts).toBeLessThanOrEqual(1);
  expect(sockets.filter((socket) => !socket.destroyed)).toEqual([]);
});

test('a call that ends in time leaves no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  await sendWhere(async () => ({ ConsumedCapacity: {} }));
  expect(timers()).toBe(before);
});

test('no time at all is a 504 at once', async () => {
  expect((await readFrom(() => {}, 100)).outcome).toMatchObject({ error: 504 });
});

test('a database that asks for patience does not get more than there is time for', async () => {
  const { outcome } = await readFrom(answer(503, '{}', { 'retry-after': '60', 'x-amz-retry-after': '60000' }), 5000);
  expect([503, 504]).toContain((outcome as { error?: number }).error);
});

test('an answer without the consumed capacity is named in the log as not DynamoDB’s', async () => {
  const { outcome } = await readFrom(answer(200, '{}'));
  expect(outcome).toMatchObject({ cause: { message: 'The answer is not one of DynamoDB.' } });
});

test('when time is up it is a 504 even where the call does not look at its signal', async () => {
  const call = sendWhere(() => new Promise<never>(() => {}), 4100);
  await expect(call).rejects.toMatchObject({ error: 504 });
});

test.each([
  ['no credentials', Object.assign(new Error('none'), { name: 'CredentialsProviderError' })],
  ['what is no Error', 'text'],
])('%s is not taken for a database that does not answer', async (_, thrown) => {
  await expect(sendWhere(() => Promise.reject(thrown))).rejects.toBe(thrown);
});
