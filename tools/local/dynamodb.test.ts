import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListTablesCommand, PutItemCommand, type PutItemCommandInput } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTables, localClient, openDynamoDb } from './dynamodb.ts';

afterEach(() => void vi.unstubAllEnvs());

/** No program listens on port 1. */
const UNREACHABLE = 'http://127.0.0.1:1';

async function openInMemory() {
  const { endpoint, close } = await openDynamoDb();
  onTestFinished(close);
  return { endpoint, client: localClient(endpoint) };
}

test.each(['https://localhost:8000', 'http://127.1', 'http://[::1]:8000'])('uses the endpoint %s', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  expect(await openDynamoDb()).toMatchObject({ endpoint });
});

test.each([
  'https://dynamodb.us-east-1.amazonaws.com',
  'http://localhost.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost@example.com',
  'http://0.0.0.0:8000',
  'localhost:8000',
  'ftp://localhost',
])('rejects the endpoint %j, because it is not on this machine', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  await expect(openDynamoDb()).rejects.toThrow(`AWS_ENDPOINT_URL_DYNAMODB was "${endpoint}"; it must be an http or `);
});

test('fails immediately if nothing listens at the endpoint', async () => {
  await expect(createTables(UNREACHABLE)).rejects.toThrow(
    `The DynamoDB at ${UNREACHABLE} cannot be used: connect ECONNREFUSED 127.0.0.1:1`,
  );
});

/** A write whose condition fails if the plant is stored. */
const PUT = { TableName: 'PlantsTable', Item: { id: { N: '1' } }, ConditionExpression: 'attribute_not_exists(id)' };
const PUT_RETURNING = { ...PUT, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };

test('a write whose condition fails gets the stored item if it asks for it, also 300 at once', async () => {
  const { endpoint, client } = await openInMemory();
  await createTables(endpoint);
  const itemOfFailure = (put: PutItemCommandInput) => {
    return client.send(new PutItemCommand(put)).catch(({ name, Item }) => JSON.stringify({ [name]: Item }));
  };
  await itemOfFailure(PUT_RETURNING);
  const failures = await Promise.all(Array.from({ length: 300 }, () => itemOfFailure(PUT_RETURNING)));
  expect([...new Set(failures)]).toEqual([JSON.stringify({ ConditionalCheckFailedException: PUT.Item })]);
  expect(await itemOfFailure(PUT)).toBe('{}');
});

test('keeps running if 200 clients disconnect while they send a body', async () => {
  const { endpoint, client } = await openInMemory();
  const { hostname, port } = new URL(endpoint);
  const disconnect = async () => {
    const socket = connect(Number(port), hostname);
    socket.write('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{');
    // The server has the request.
    await once(socket, 'data');
    socket.resetAndDestroy();
    await once(socket, 'close');
  };
  await Promise.all(Array.from({ length: 200 }, disconnect));
  await client.send(new ListTablesCommand());
});

test('responds with 403 to a web page, also to a preflight request', async () => {
  const { endpoint } = await openInMemory();
  for (const method of ['OPTIONS', 'POST']) {
    const response = await fetch(endpoint, { method, headers: { origin: 'https://a.example' } });
    expect(response.status).toBe(403);
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  }
});

test('keeps its data in its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  const first = await openDynamoDb(folder);
  await createTables(first.endpoint);
  await first.close();
  const { endpoint, close } = await openDynamoDb(folder);
  onTestFinished(close);
  const { TableNames } = await localClient(endpoint).send(new ListTablesCommand());
  expect(TableNames).toEqual(['AccessTokensTable', 'PlantsTable']);
});
