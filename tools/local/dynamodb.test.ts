import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../../functions/shared/access-tokens/token.ts';
import { sharedTemplate } from '../../test/support/assembly.ts';
import {
  createTables,
  DEVELOPMENT_TOKEN,
  type LocalDynamoDb,
  openLocalDynamoDb,
  putDevelopmentToken,
  type Storage,
} from './dynamodb.ts';

/** Replaces the folder of the stored data, to keep the user's. */
vi.mock(import('./running-service.ts'), async (original) => ({
  ...(await original()),
  dataDirectory: mkdtempSync(join(tmpdir(), 'plant-store-')),
}));
afterEach(() => void vi.unstubAllEnvs());

const template = await sharedTemplate();
/** No program listens on port 1. */
const UNREACHABLE = 'http://127.0.0.1:1';

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
  'xhttp://localhost',
  'http://xlocalhost',
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

test('listens only on 127.0.0.1, and keeps running if a client disconnects while it sends its body', async () => {
  const { endpoint, client } = closedAtEnd(await openLocalDynamoDb());
  const { hostname, port } = new URL(endpoint);
  await expect(once(connect(Number(port), '::1'), 'connect')).rejects.toThrow('::1');
  const socket = connect(Number(port), hostname);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
  await sleep(50);
  socket.resetAndDestroy();
  await sleep(50);
  await client.send(new ListTablesCommand());
});

test('stores the development token for a year', async () => {
  const dynamoDb = closedAtEnd(await openLocalDynamoDb());
  await createTables(dynamoDb, template);
  const before = Math.floor(Date.now() / 1000);
  await putDevelopmentToken(dynamoDb, template);
  const Key = { digest: { S: digestOf(DEVELOPMENT_TOKEN) } };
  const TableName = template.outputs['AccessTokensTableName'];
  const { Item } = await dynamoDb.client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  const createdAt = Number(Item?.['createdAt']?.N);
  expect(Item?.['name']).toEqual({ S: 'development' });
  expect(createdAt).toBeGreaterThanOrEqual(before);
  expect(createdAt).toBeLessThanOrEqual(Date.now() / 1000);
  expect(Number(Item?.['expiresAt']?.N) - createdAt).toBe(365 * 24 * 60 * 60);
});

test('keeps the stored data by default; --memory neither shows nor changes it, --fresh deletes it', async () => {
  const tablesOf = async (storage?: Storage, withTables = false) => {
    const dynamoDb = await openLocalDynamoDb(storage);
    if (withTables) await createTables(dynamoDb, template);
    const { TableNames = [] } = await dynamoDb.client.send(new ListTablesCommand());
    await dynamoDb.close();
    return TableNames.length;
  };
  expect(await tablesOf('fresh', true)).toBe(2);
  expect(await tablesOf('memory')).toBe(0);
  expect(await tablesOf()).toBe(0);
  expect(await tablesOf('keep')).toBe(2);
  expect(await tablesOf('fresh')).toBe(0);
});

test.each(['fresh', 'memory'] as const)('rejects --%s for another DynamoDB', async (storage) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', UNREACHABLE);
  await expect(openLocalDynamoDb(storage)).rejects.toThrow(
    `--${storage} is for the embedded DynamoDB; unset AWS_ENDPOINT_URL_DYNAMODB.`,
  );
});
