import { hash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DynamoDBClient,
  PutItemCommand,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { dataDirectory } from './running-service.ts';
import { LOCAL_REGION, type Template } from './template.ts';

/** The token of the local run and of the sample events. It is public, so it must never be in a real table. */
export const DEVELOPMENT_TOKEN = 'plantstore_LocalDevelopmentTokenValidNowhereElse000000';

/** dynalite and DynamoDB Local accept any credentials. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The treatment of the stored data: `keep` uses it, `fresh` deletes it first, `memory` neither uses nor stores any. */
export type Storage = 'keep' | 'fresh' | 'memory';

export interface LocalDynamoDb {
  endpoint: string;
  client: DynamoDBClient;
  close(): Promise<void>;
}

/** Opens the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB, or else starts the embedded one, by default in memory. */
export async function openLocalDynamoDb(storage?: Storage): Promise<LocalDynamoDb> {
  const endpoint = loopbackEndpoint();
  if (endpoint === undefined) return await startEmbedded(storage ?? 'memory');
  if (storage === undefined || storage === 'keep') return connect(endpoint);
  throw new Error(`--${storage} is for the embedded DynamoDB; unset AWS_ENDPOINT_URL_DYNAMODB.`);
}

/** Creates the tables of the template that do not exist yet. */
export async function createTables({ client, endpoint }: LocalDynamoDb, { tables }: Pick<Template, 'tables'>) {
  try {
    for (const table of tables) {
      await client.send(new CreateTableCommand(table)).catch((error) => {
        if (!(error instanceof ResourceInUseException)) throw error;
      });
      await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.02, maxDelay: 1 }, table);
    }
  } catch (error) {
    throw new Error(`The DynamoDB at ${endpoint} cannot be used: ${(error as Error).message}`);
  }
}

/** Stores the development token, valid for a year from now. */
export async function putDevelopmentToken(
  { client }: LocalDynamoDb,
  { outputs }: Pick<Template, 'outputs'>,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const Item = {
    digest: { S: hash('sha256', DEVELOPMENT_TOKEN) },
    name: { S: 'development' },
    createdAt: { N: String(now) },
    expiresAt: { N: String(now + 365 * 24 * 60 * 60) },
  };
  await client.send(new PutItemCommand({ TableName: outputs['AccessTokensTableName'], Item }));
}

/**
 * Returns AWS_ENDPOINT_URL_DYNAMODB, if it is set.
 *
 * @throws if it is not on this machine, because the public development token would be stored in a real table
 */
function loopbackEndpoint(): string | undefined {
  const value = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  if (!value) return undefined;
  const { protocol = '', hostname = '' } = URL.parse(value) ?? {};
  if (/^https?:$/.test(protocol) && /^(localhost|\[::1\]|127\.[\d.]+)$/.test(hostname)) return value;
  throw new Error(
    `AWS_ENDPOINT_URL_DYNAMODB was "${value}"; it must be an http or https URL of this machine (127.0.0.1, localhost or [::1]).`,
  );
}

function connect(endpoint: string): LocalDynamoDb {
  const client = localClient(endpoint);
  return { endpoint, client, close: async () => client.destroy() };
}

/** Returns a client for a DynamoDB of this machine. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
}

async function startEmbedded(storage: Storage): Promise<LocalDynamoDb> {
  const path = join(dataDirectory, 'dynamodb');
  if (storage === 'fresh') rmSync(path, { recursive: true, force: true });
  const server = dynalite({ ...(storage !== 'memory' && { path }), createTableMs: 0 });
  // Without this, a client that disconnects while it sends its body would crash dynalite, and the local run.
  server.on('request', (request) => request.removeAllListeners('error').on('error', () => {}));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = localClient(endpoint);
  return {
    endpoint,
    client,
    close: async () => {
      client.destroy();
      // The event `close` comes before dynalite has closed the data, which the next process could then not open.
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
