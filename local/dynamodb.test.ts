import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../functions/shared/access-tokens/token.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import { type LocalDynamoDb, loopbackEndpoint, openLocalDynamoDb, openServiceDynamoDb } from './dynamodb.ts';
import { readTemplate } from './template.ts';

/** A folder in the project's place, so that the data is not that of whoever runs the tests. */
const { root } = vi.hoisted(() => ({ root: { path: '' } }));
vi.mock(import('./synthesize.ts'), async (original) => {
  root.path = mkdtempSync(join(tmpdir(), 'plant-store-'));
  return { ...(await original()), projectRoot: root.path };
});
afterAll(() => rmSync(root.path, { recursive: true }));
afterEach(() => void vi.unstubAllEnvs());

const template = () => readTemplate(inject('assembly'));
/** Where nothing listens: port 1 is given to nobody. */
const UNREACHABLE = 'http://127.0.0.1:1';
const CANNOT_BE_USED = `The DynamoDB at ${UNREACHABLE} cannot be used: connect ECONNREFUSED 127.0.0.1:1`;
const serviceFile = () => join(root.path, '.local/service.json');

/** The item of the development token. */
async function developmentToken({ client }: LocalDynamoDb) {
  const Key = { digest: { S: digestOf(DEVELOPMENT_TOKEN) } };
  const TableName = template().outputs['AccessTokensTableName'];
  return (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item;
}

/** Closed at the end of the test, where the test does not. */
function closedAtLast(dynamoDb: LocalDynamoDb): LocalDynamoDb {
  onTestFinished(dynamoDb.close);
  return dynamoDb;
}

test.each([
  'http://localhost:8000',
  'https://localhost:8000',
  'http://LOCALHOST',
  'http://127.0.0.1:8000',
  'http://127.1.2.3',
  'http://127.1',
  'http://[::1]:8000',
  'http://2130706433:8000',
])('%s is an address of this machine', (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  expect(loopbackEndpoint()).toBe(endpoint);
});

test.each([
  'https://dynamodb.us-east-1.amazonaws.com',
  'http://localhost.example.com',
  'http://example.com/localhost',
  'http://xlocalhost',
  'http://127.0.0.1.example.com',
  'http://x127.0.0.1',
  'http://localhost@example.com',
  'http://128.0.0.1',
  'http://0.0.0.0:8000',
  'http://10.0.0.1',
  'http://[::2]',
  'http://[::ffff:10.0.0.1]',
  'localhost:8000',
  '127.0.0.1:8000',
  'ftp://localhost',
  'file:///tmp',
  'xhttp://localhost',
  'httpx://localhost',
  'x',
  ' ',
])('%s is no address of this machine', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  expect(loopbackEndpoint).toThrow(
    `AWS_ENDPOINT_URL_DYNAMODB was "${endpoint}"; it must be an http address of this machine (127.0.0.1, localhost or [::1]).`,
  );
  await expect(openServiceDynamoDb()).rejects.toThrow(endpoint);
  await expect(openLocalDynamoDb(template())).rejects.toThrow(endpoint);
});

test.each(['', undefined])('an endpoint that is %j is none', (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  expect(loopbackEndpoint()).toBe(undefined);
});

test('a command beside a service uses what the service has open, and leaves it open', async () => {
  const service = closedAtLast(await openServiceDynamoDb());
  const command = await openLocalDynamoDb(template());
  expect([service.ofService, command.ofService, command.endpoint]).toEqual([false, true, service.endpoint]);
  await command.close();
  const { TableNames } = await service.client.send(new ListTablesCommand());
  expect(TableNames?.toSorted()).toEqual(
    template()
      .tables.map(({ TableName }) => TableName)
      .toSorted(),
  );
});

test('a second service is refused, naming the process of the first, until that has ended', async () => {
  const first = await openServiceDynamoDb();
  await expect(openServiceDynamoDb()).rejects.toThrow(
    `Another npm start or npm run dev of this folder is running and has its data, .local/, open (process ${process.pid}). End it, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB of this machine.`,
  );
  await first.close();
  expect(existsSync(serviceFile())).toBe(false);
  closedAtLast(await openServiceDynamoDb());
  expect(existsSync(serviceFile())).toBe(true);
});

test('a command waits for one that has the data open, which is no service', async () => {
  const first = await openLocalDynamoDb(template());
  expect(existsSync(serviceFile())).toBe(false);
  let opened = false;
  const second = openLocalDynamoDb(template()).then((dynamoDb) => {
    opened = true;
    return closedAtLast(dynamoDb);
  });
  // Longer than it takes to look a second time.
  await sleep(150);
  expect(opened).toBe(false);
  await first.close();
  expect((await second).ofService).toBe(false);
});

test('one that has waited 15 s for another command says so', async () => {
  closedAtLast(await openLocalDynamoDb(template()));
  await waitsFor15Seconds(
    openServiceDynamoDb,
    'Another command has had the data of the local run, .local/, open for 15 s. Try again when it has ended.',
  );
});

/** Holds that `open` waits until 15 s have passed, by the clock that it sees, and then fails with a message. */
async function waitsFor15Seconds(open: () => Promise<LocalDynamoDb>, message: unknown): Promise<void> {
  const start = Date.now();
  const now = vi.spyOn(Date, 'now').mockReturnValue(start);
  onTestFinished(() => void now.mockRestore());
  const waiting = open().catch((error: Error) => error.message);
  const outcome = () => Promise.race([waiting, sleep(500, 'waiting')]);
  for (const passed of [0, 15_000]) {
    now.mockReturnValue(start + passed);
    expect(await outcome()).toBe('waiting');
  }
  now.mockReturnValue(start + 15_001);
  expect(await waiting).toEqual(message);
}

test('a command beside a service that is just ending waits until it has ended', async () => {
  const service = await openServiceDynamoDb();
  writeFileSync(serviceFile(), JSON.stringify({ endpoint: UNREACHABLE, pid: process.pid }));
  const command = openLocalDynamoDb(template());
  await sleep(500);
  await service.close();
  expect(closedAtLast(await command).ofService).toBe(false);
});

test('a command beside a service that does not answer says so after 15 s', async () => {
  closedAtLast(await openServiceDynamoDb());
  writeFileSync(serviceFile(), JSON.stringify({ endpoint: UNREACHABLE, pid: process.pid }));
  await waitsFor15Seconds(() => openLocalDynamoDb(template()), CANNOT_BE_USED);
});

test('another DynamoDB that does not answer is not waited for', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', UNREACHABLE);
  const failed = openLocalDynamoDb(template()).catch((error: Error) => error.message);
  expect(await failed).toEqual(CANNOT_BE_USED);
});

test('what a service that was killed has left behind keeps nobody out', async () => {
  const command = await openLocalDynamoDb(template());
  const { pid } = spawnSync('true');
  writeFileSync(serviceFile(), JSON.stringify({ endpoint: UNREACHABLE, pid }));
  const service = openServiceDynamoDb();
  await sleep(150);
  await command.close();
  expect(closedAtLast(await service).endpoint).not.toBe(UNREACHABLE);
});

test('a lock file that is no database fails at once', async () => {
  const lock = join(root.path, '.local/lock');
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(lock, 'not a database'.repeat(1000));
  onTestFinished(() => rmSync(lock));
  await expect(openServiceDynamoDb()).rejects.toThrow('file is not a database');
});

test('what is stored is there at the next opening', async () => {
  const first = await openLocalDynamoDb(template());
  await first.close();
  const second = closedAtLast(await openServiceDynamoDb());
  expect(await developmentToken(second)).toMatchObject({ name: { S: 'development' } });
});

test('the embedded one is not reached at ::1, and does not wait for a caller that says no more', async () => {
  const dynamoDb = await openServiceDynamoDb();
  const { hostname, port } = new URL(dynamoDb.endpoint);
  await expect(once(connect(Number(port), '::1'), 'connect')).rejects.toThrow('::1');
  const caller = connect(Number(port), hostname).resume();
  caller.write('POST / HTTP/1.1\r\n');
  const closed = once(caller, 'close');
  await sleep(50);
  await dynamoDb.close();
  await closed;
});

test('a caller that breaks off in the middle of its body ends nothing but its own request', async () => {
  const { endpoint, client } = closedAtLast(await openServiceDynamoDb());
  const { hostname, port } = new URL(endpoint);
  const caller = connect(Number(port), hostname);
  caller.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
  await sleep(50);
  caller.resetAndDestroy();
  await sleep(50);
  await client.send(new ListTablesCommand());
});

test('a DynamoDB that is closed has no connection left', async () => {
  const server = createServer((_, response) => response.writeHead(400).end()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://127.0.0.1:${port}`);
  const dynamoDb = await openServiceDynamoDb();
  await dynamoDb.client.send(new ListTablesCommand()).catch(() => {});
  const connections = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  expect(await connections()).toBe(1);
  await dynamoDb.close();
  await expect.poll(connections).toBe(0);
});

test('the development token is valid for a year from the opening, and not put where it is not asked for', async () => {
  rmSync(join(root.path, '.local'), { recursive: true, force: true });
  const without = await openLocalDynamoDb(template(), { developmentToken: false });
  expect(await developmentToken(without)).toBe(undefined);
  await without.close();
  const before = Math.floor(Date.now() / 1000);
  const stored = await developmentToken(closedAtLast(await openLocalDynamoDb(template())));
  const createdAt = Number(stored?.['createdAt']?.N);
  expect(stored?.['name']).toEqual({ S: 'development' });
  expect(createdAt).toBeGreaterThanOrEqual(before);
  expect(createdAt).toBeLessThanOrEqual(Date.now() / 1000);
  expect(Number(stored?.['expiresAt']?.N) - createdAt).toBe(365 * 24 * 60 * 60);
});
