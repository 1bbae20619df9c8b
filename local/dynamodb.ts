import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { DEVELOPMENT_TOKEN_NAME, developmentTokenDigest } from './development-token.ts';
import { projectRoot } from './synthesize.ts';
import { LOCAL_REGION, type Template } from './template.ts';

/** What DynamoDB Local and dynalite take for credentials; they verify neither. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

const dataDirectory = join(projectRoot, '.local');
/** Holds the address of the embedded store while a process has it open: it can be open only once. */
const endpointFile = join(dataDirectory, 'dynamodb-endpoint');

export interface LocalDynamoDb {
  endpoint: string;
  client: DynamoDBClient;
  close(): Promise<void>;
}

/**
 * The DynamoDB of this machine, the template's tables and the development token in it:
 * AWS_ENDPOINT_URL_DYNAMODB, the embedded one that another process has open, or one's own.
 */
export async function openLocalDynamoDb(template: Template): Promise<LocalDynamoDb> {
  const dynamoDb = connect(loopbackEndpoint() ?? (await endpointOfOtherProcess()) ?? (await embed()));
  try {
    for (const { name, definition } of template.tables) {
      try {
        await dynamoDb.client.send(new CreateTableCommand({ TableName: name, ...definition }));
      } catch (error) {
        if (!(error instanceof ResourceInUseException)) throw error;
      }
      await waitUntilTableExists({ client: dynamoDb.client, maxWaitTime: 30, minDelay: 1 }, { TableName: name });
    }
    await putDevelopmentToken(dynamoDb.client, template);
    return dynamoDb;
  } catch (error) {
    await dynamoDb.close();
    throw new Error(`The DynamoDB at ${dynamoDb.endpoint} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * AWS_ENDPOINT_URL_DYNAMODB where it is set. Throws where it leaves this machine: the development
 * token is public and must never stand in a real table.
 */
export function loopbackEndpoint(): string | undefined {
  const value = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  if (!value) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const host = url?.hostname ?? '';
  const loopback = host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
  if (!url?.protocol.startsWith('http') || !loopback) {
    throw new Error(
      `AWS_ENDPOINT_URL_DYNAMODB was "${value}"; it must be an http address of this machine (127.0.0.1, localhost or [::1]).`,
    );
  }
  return value;
}

function connect(at: string | EmbeddedDynamoDb): LocalDynamoDb {
  const endpoint = typeof at === 'string' ? at : at.endpoint;
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  return {
    endpoint,
    client,
    close: async () => {
      client.destroy();
      if (typeof at !== 'string') await at.close();
    },
  };
}

interface EmbeddedDynamoDb {
  endpoint: string;
  close(): Promise<void>;
}

async function endpointOfOtherProcess(): Promise<string | undefined> {
  let endpoint: string;
  try {
    endpoint = readFileSync(endpointFile, 'utf8');
  } catch {
    return undefined;
  }
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, maxAttempts: 1 });
  try {
    await client.send(new ListTablesCommand({}));
    return endpoint;
  } catch {
    // That process was killed and left its file behind.
    return undefined;
  } finally {
    client.destroy();
  }
}

async function embed(): Promise<EmbeddedDynamoDb> {
  mkdirSync(dataDirectory, { recursive: true });
  const server = dynalite({ path: join(dataDirectory, 'dynamodb'), createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(endpointFile, endpoint);
  return {
    endpoint,
    close: async () => {
      rmSync(endpointFile, { force: true });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function putDevelopmentToken(client: DynamoDBClient, { tables, outputs }: Template): Promise<void> {
  const table = tables.find(({ name }) => name === outputs['AccessTokensTableName']);
  if (!table) throw new Error('the template has no output AccessTokensTableName that names one of its tables.');
  const now = Math.floor(Date.now() / 1000);
  await client.send(
    new PutItemCommand({
      TableName: table.name,
      Item: {
        [table.partitionKey]: { S: developmentTokenDigest() },
        name: { S: DEVELOPMENT_TOKEN_NAME },
        createdAt: { N: String(now) },
        expiresAt: { N: String(now + 365 * 24 * 60 * 60) },
      },
    }),
  );
}
