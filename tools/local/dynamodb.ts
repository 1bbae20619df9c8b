import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  CreateTableCommand,
  type CreateTableInput,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { optionalVariable } from '../../functions/environment.ts';
import { tokenItem } from '../../functions/tokens/token.ts';
import { type TableId, tableIds, tableKeys, tableLogicalId } from '../../infra/data/table-keys.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import { isLoopback, rejectForeignRequests } from './loopback.ts';

/** The region in requests to the local DynamoDB. Nothing validates it. */
export const LOCAL_REGION = 'us-east-1';
/** dynalite and DynamoDB Local accept any credentials. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * Opens the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB, or else starts the embedded one.
 *
 * @param folder of the embedded DynamoDB's data; default: it keeps the data in memory
 * @param port of the embedded DynamoDB; default: any free one
 * @throws if AWS_ENDPOINT_URL_DYNAMODB is not on this machine, or if the data is damaged
 */
export async function openDynamoDb(folder?: string, port = 0) {
  const endpoint = loopbackEndpoint();
  if (endpoint) return { endpoint, close: async () => {} };
  const path = folder && join(folder, 'dynamodb');
  const { createEmbeddedDynamoDb } = await import('./embedded-dynamodb.ts');
  const server = createEmbeddedDynamoDb(path);
  // dynalite allows all origins, so any web page could read and delete the data.
  rejectForeignRequests(server, { acceptOrigins: false });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const ownEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (path) await checkData(ownEndpoint, path);
  return {
    endpoint: ownEndpoint,
    async close(): Promise<void> {
      // The event `close` comes before dynalite has closed the data, which the next process could then not open.
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Throws if dynalite cannot open its data. In that case, it responds to no request, and throws an uncaught error. */
async function checkData(endpoint: string, path: string): Promise<void> {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  process.on('uncaughtException', reject);
  await Promise.race([localClient(endpoint).send(new ListTablesCommand()), failure]).catch((thrown) => {
    const advice = 'If no other process uses it, delete this folder.';
    throw new Error(`The data in ${path} cannot be opened. ${advice}`, { cause: thrown });
  });
  process.off('uncaughtException', reject);
}

/**
 * Returns AWS_ENDPOINT_URL_DYNAMODB, if it is set.
 *
 * @throws if it is not on this machine, because the public development token would be stored in a real table
 */
function loopbackEndpoint(): string | undefined {
  const value = optionalVariable('AWS_ENDPOINT_URL_DYNAMODB');
  if (!value) return undefined;
  if (isLoopback(value)) return value;
  throw new Error(
    `AWS_ENDPOINT_URL_DYNAMODB was "${value}"; it must be an http or https URL of this machine (127.0.0.1, localhost or [::1]).`,
  );
}

/** Returns a client for a DynamoDB of this machine. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
}

/**
 * Creates the tables that do not exist yet, and stores the development token, valid for a year from now.
 *
 * @throws if there is no DynamoDB at the endpoint
 */
export async function createTables(endpoint: string): Promise<void> {
  const client = localClient(endpoint);
  try {
    for (const id of tableIds) {
      await client.send(new CreateTableCommand(createTableInput(id))).catch((thrown) => {
        if (!(thrown instanceof ResourceInUseException)) throw thrown;
      });
      const wait = { client, maxWaitTime: 30, minDelay: 0.02, maxDelay: 1 };
      await waitUntilTableExists(wait, { TableName: tableLogicalId(id) });
    }
    const now = Math.floor(Date.now() / 1000);
    const item = tokenItem(DEVELOPMENT_TOKEN, 'development', now, now + 365 * 24 * 60 * 60);
    await client.send(new PutItemCommand({ TableName: tableLogicalId('accessTokens'), Item: item }));
  } catch (thrown) {
    throw new Error(`The DynamoDB at ${endpoint} cannot be used: ${(thrown as Error).message}`);
  } finally {
    client.destroy();
  }
}

/** Returns what CreateTable needs to create a table of the local run. */
export function createTableInput(id: TableId): CreateTableInput {
  const { name: AttributeName, type: AttributeType } = tableKeys[id];
  return {
    TableName: tableLogicalId(id),
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName, AttributeType }],
    KeySchema: [{ AttributeName, KeyType: 'HASH' }],
  };
}
