import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ListTablesCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTables, findLocalRun, isolateFromAws, localClient, openDynamoDb } from './dynamodb.ts';

const before = { ...process.env };
beforeEach(() => vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', undefined));
afterEach(() => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, before);
});

/** Returns the endpoint of an embedded DynamoDB, which keeps its data in memory. */
async function openInMemory() {
  const { endpoint, close } = await openDynamoDb();
  onTestFinished(close);
  return endpoint;
}

test.each(['https://localhost:8000', 'http://127.1', 'http://[::1]:8000'])('uses the endpoint %s', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  expect(await openDynamoDb()).toMatchObject({ endpoint });
});

test.each([
  ...['https://dynamodb.us-east-1.amazonaws.com', 'http://127.0.0.1.example.com', 'http://0.0.0.0'],
  ...['http://localhost@example.com', 'localhost:8000', 'ftp://localhost', 'http://::1'],
])('rejects the endpoint %j, because it is not on this machine', async (endpoint) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  for (const use of [openDynamoDb, findLocalRun]) await expect(use()).rejects.toThrow(/^AWS_ENDPOINT_URL_DYNAMODB /);
});

test('says which endpoint cannot be used if nothing is there', async () => {
  // No program listens on port 1.
  const message = /^The DynamoDB at http:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/;
  await expect(createTables('http://127.0.0.1:1')).rejects.toThrow(message);
});

test('the development token is valid for longer than a local run', async () => {
  const endpoint = await openInMemory();
  await createTables(endpoint);
  const { Items = [] } = await localClient(endpoint).send(new ScanCommand({ TableName: 'AccessTokensTable' }));
  const inHundredDays = Date.now() / 1000 + 100 * 86_400;
  expect(Number(Items[0]?.['expiresAt']?.N), 'in seconds since 1970').toBeGreaterThan(inHundredDays);
});

test('the embedded DynamoDB keeps running if a client disconnects while it sends a body', async () => {
  const endpoint = await openInMemory();
  const { hostname, port } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  socket.write('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{');
  // The server has the request.
  await once(socket, 'data');
  socket.resetAndDestroy();
  await localClient(endpoint).send(new ListTablesCommand());
});

test.each([{ origin: 'https://a.example' }, { host: 'a.example' }])('responds with 403 to %j', async (headers) => {
  const sent = request(await openInMemory(), { method: 'POST', headers }).end();
  const [response] = await once(sent, 'response');
  expect(await text(response)).toContain(`"${Object.values(headers)}"`);
  expect(response.statusCode).toBe(403);
  expect(response.headers).not.toHaveProperty('access-control-allow-origin');
});

test.each([
  [{ TOKEN_ISSUER: 'foo' }, /^TOKEN_ISSUER .*"foo"/],
  [{ TOKEN_AUDIENCE: 'plants' }, /^TOKEN_ISSUER .*""/],
  [{ TOKEN_SCOPE: 'write' }, /^TOKEN_ISSUER .*""/],
  [{ TOKEN_ISSUER: 'https://a.example' }, /^TOKEN_AUDIENCE .*""/],
])('rejects the identity provider %j', (variables, message) => {
  Object.assign(process.env, variables);
  expect(() => isolateFromAws('http://127.0.0.1:9')).toThrow(message);
});

test('replaces everything of the person’s AWS account, and keeps other variables', () => {
  const person = { AWS_PROFILE: 'production', AWS_SESSION_TOKEN: 'x', AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL: 'x' };
  Object.assign(process.env, person, { TOKEN_ISSUER: 'https://b.example', TOKEN_AUDIENCE: 'plants' });
  isolateFromAws('http://127.0.0.1:9');
  expect(Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('AWS_')))).toEqual({
    AWS_ACCESS_KEY_ID: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
    AWS_REGION: 'us-east-1',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
  expect(process.env).toMatchObject({ TOKEN_ISSUER: 'https://b.example', PLANTS_TABLE_NAME: 'PlantsTable' });
});
