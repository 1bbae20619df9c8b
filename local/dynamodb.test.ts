import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../functions/shared/access-tokens/token.ts';
import { sharedTemplate } from '../test/support/assembly.ts';
import {
  createTables,
  DEVELOPMENT_TOKEN,
  type LocalDynamoDb,
  openLocalDynamoDb,
  putDevelopmentToken,
  type Storage,
} from './dynamodb.ts';

/** Replaces the project's folder by a temporary one, to keep the user's data. */
const { root } = vi.hoisted(() => ({ root: { path: '' } }));
vi.mock(import('./synthesize.ts'), async (original) => {
  root.path = mkdtempSync(join(tmpdir(), 'plant-store-'));
  return { ...(await original()), projectRoot: root.path };
});
afterEach(() => void vi.unstubAllEnvs());

const template = await sharedTemplate();
/** No program listens on port 1. */
const UNREACHABLE = 'http://127.0.0.1:1';
const openService = () => openLocalDynamoDb('keep');

function closedAtEnd(dynamoDb: LocalDynamoDb): LocalDynamoDb {
  onTestFinished(dynamoDb.close);
  return dynamoDb;
}

test.each([
  'http://localhost:8000',
  'https://localhost:8000',
  'http://LOCALHOST',
  'http://127.1.2.3',
  'http://127.1',
  'http://[::1]:8000',
  'http://2130706433:8000',
])('uses the endpoint %s', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  expect(closedAtEnd(await openLocalDynamoDb()).endpoint).toBe(endpoint);
});

test.each([
  'https://dynamodb.us-east-1.amazonaws.com',
  'http://localhost.example.com',
  'http://example.com/localhost',
  'http://127.0.0.1.example.com',
  'http://x127.0.0.1',
  'http://localhost@example.com',
  'http://0.0.0.0:8000',
  'http://10.0.0.1',
  'http://[::ffff:10.0.0.1]',
  'localhost:8000',
  'ftp://localhost',
  'httpx://localhost',
  ' ',
])('rejects the endpoint %j, because it is not on this machine', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  await expect(openLocalDynamoDb()).rejects.toThrow(
    `AWS_ENDPOINT_URL_DYNAMODB was "${endpoint}"; it must be an http or https URL of this machine (127.0.0.1, localhost or [::1]).`,
  );
});

test('fails immediately if nothing listens at the endpoint', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', UNREACHABLE);
  await expect(createTables(await openLocalDynamoDb(), template)).rejects.toThrow(
    `The DynamoDB at ${UNREACHABLE} cannot be used: connect ECONNREFUSED 127.0.0.1:1`,
  );
});

test('connects a command to the running service’s DynamoDB, and keeps that open', async () => {
  const service = closedAtEnd(await openService());
  const command = await openLocalDynamoDb();
  expect(command.endpoint).toBe(service.endpoint);
  await createTables(command, template);
  await command.close();
  const { TableNames } = await service.client.send(new ListTablesCommand());
  const names = template.tables.map(({ TableName }) => TableName);
  expect(TableNames?.toSorted()).toEqual(names.toSorted());
});

test('rejects a second service until the first one has ended', async () => {
  const first = await openService();
  await expect(openService()).rejects.toThrow(
    `Another npm start or npm run dev of this folder is running and has its data, .local/, open (process ${process.pid}). End it, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB of this machine.`,
  );
  await first.close();
  closedAtEnd(await openService());
});

test.each([
  ['service', 'keep'],
  ['command', undefined],
] as const)('makes a %s wait for a running command, and ignores the file of a killed service', async (_, storage) => {
  mkdirSync(join(root.path, '.local'), { recursive: true });
  writeFileSync(join(root.path, '.local/service.json'), JSON.stringify({ endpoint: UNREACHABLE, pid: 1 }));
  const first = await openLocalDynamoDb();
  let isOpen = false;
  const second = openLocalDynamoDb(storage).then((dynamoDb) => {
    isOpen = true;
    return closedAtEnd(dynamoDb);
  });
  await sleep(150);
  expect(isOpen).toBe(false);
  await first.close();
  expect((await second).endpoint).not.toBe(UNREACHABLE);
});

test('waits 15 s for another command', async () => {
  closedAtEnd(await openLocalDynamoDb());
  const now = vi.spyOn(Date, 'now').mockReturnValue(0);
  onTestFinished(() => void now.mockRestore());
  const result = openService().catch((error: Error) => error.message);
  for (const time of [0, 14_999]) {
    now.mockReturnValue(time);
    expect(await Promise.race([result, sleep(300, 'waiting')])).toBe('waiting');
  }
  now.mockReturnValue(15_000);
  expect(await result).toBe(
    'Another command has had the data of the local run, .local/, open for 15 s. Try again when it has ended.',
  );
});

test('listens only on 127.0.0.1, and keeps running if a client disconnects while it sends its body', async () => {
  const { endpoint, client } = closedAtEnd(await openService());
  const { hostname, port } = new URL(endpoint);
  await expect(once(connect(Number(port), '::1'), 'connect')).rejects.toThrow('::1');
  const socket = connect(Number(port), hostname);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
  await sleep(50);
  socket.resetAndDestroy();
  await sleep(50);
  await client.send(new ListTablesCommand());
});

test('keeps its data, and stores the development token for a year', async () => {
  rmSync(join(root.path, '.local'), { recursive: true, force: true });
  const first = await openLocalDynamoDb();
  await createTables(first, template);
  const before = Math.floor(Date.now() / 1000);
  await putDevelopmentToken(first, template);
  await first.close();
  const { client } = closedAtEnd(await openService());
  const Key = { digest: { S: digestOf(DEVELOPMENT_TOKEN) } };
  const TableName = template.outputs['AccessTokensTableName'];
  const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  const createdAt = Number(Item?.['createdAt']?.N);
  expect(Item?.['name']).toEqual({ S: 'development' });
  expect(createdAt).toBeGreaterThanOrEqual(before);
  expect(createdAt).toBeLessThanOrEqual(Date.now() / 1000);
  expect(Number(Item?.['expiresAt']?.N) - createdAt).toBe(365 * 24 * 60 * 60);
});

test('--memory neither shows nor changes the stored data, --fresh deletes it', async () => {
  const tablesOf = async (storage: Storage, withTables = false) => {
    const dynamoDb = await openLocalDynamoDb(storage);
    if (withTables) await createTables(dynamoDb, template);
    const { TableNames = [] } = await dynamoDb.client.send(new ListTablesCommand());
    await dynamoDb.close();
    return TableNames.length;
  };
  expect(await tablesOf('fresh', true)).toBe(2);
  expect(await tablesOf('memory')).toBe(0);
  expect(await tablesOf('keep')).toBe(2);
  expect(await tablesOf('fresh')).toBe(0);
});

test('the service warns when its data is deleted', async () => {
  closedAtEnd(await openService());
  const print = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => print.mockRestore());
  rmSync(join(root.path, '.local'), { recursive: true });
  const warning = 'The data of this service, .local/, was deleted. Start it again: until then it may fail.';
  await expect.poll(() => print.mock.calls, { timeout: 20_000 }).toEqual([[warning]]);
});

test('rejects --fresh for another DynamoDB, and a folder that cannot be written', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', UNREACHABLE);
  await expect(openLocalDynamoDb('fresh')).rejects.toThrow(
    '--fresh is for the embedded DynamoDB; unset AWS_ENDPOINT_URL_DYNAMODB.',
  );
  vi.unstubAllEnvs();
  rmSync(join(root.path, '.local'), { recursive: true, force: true });
  writeFileSync(join(root.path, '.local'), '');
  onTestFinished(() => rmSync(join(root.path, '.local')));
  await expect(openService()).rejects.toThrow('The local run cannot create its folder: EEXIST');
});
