import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DynamoDBClient,
  PutItemCommand,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import { projectRoot } from './synthesize.ts';
import { LOCAL_REGION, type Template } from './template.ts';

/** What DynamoDB Local and dynalite take for credentials; they verify neither. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

const dataDirectory = join(projectRoot, '.local');
/** The cloud assembly of the service that has the data open; apart from `cdk.out`, which a deployment may be reading. */
export const SERVICE_ASSEMBLY = join(dataDirectory, 'cdk.out');
/** Locked by the process that has the embedded store open, as only one can. The lock ends with the process. */
const lockFile = join(dataDirectory, 'lock');
/** Says where a service that has the data open lets commands reach it. */
const serviceFile = join(dataDirectory, 'service.json');

/** How long to wait for commands that are over in a moment, and for a service that is just ending. */
const MAX_WAIT_MS = 15_000;
const POLL_MS = 50;

/** "Result and Error Codes" of SQLite: another process has the lock. */
const SQLITE_BUSY = 5;

export interface LocalDynamoDb {
  endpoint: string;
  client: DynamoDBClient;
  /** Whether a service beside this process has it open, and takes it away when it ends. */
  ofService: boolean;
  close(): Promise<void>;
}

/**
 * The DynamoDB of this machine for a command that is soon over: AWS_ENDPOINT_URL_DYNAMODB, the running
 * service's, or the embedded one. The template's tables are in it and, unless `developmentToken` is
 * false, the development token.
 */
export async function openLocalDynamoDb(template: Template, { developmentToken = true } = {}): Promise<LocalDynamoDb> {
  const deadline = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const dynamoDb = await open('command', deadline);
    try {
      await createTables(dynamoDb, template);
      if (developmentToken) await putDevelopmentToken(dynamoDb, template);
      return dynamoDb;
    } catch (error) {
      await dynamoDb.close();
      if (!dynamoDb.ofService || Date.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}

/**
 * The same for a service, whose embedded one is its own until it ends. Throws where another service has
 * it. The tables are still to be created.
 */
export async function openServiceDynamoDb(): Promise<LocalDynamoDb> {
  return await open('service', Date.now() + MAX_WAIT_MS);
}

/** Creates what is missing of the template's tables. */
export async function createTables({ client, endpoint }: LocalDynamoDb, { tables }: Template): Promise<void> {
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

/** Makes the development token valid for a year from now. */
export async function putDevelopmentToken({ client }: LocalDynamoDb, { outputs }: Template): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  await client.send(
    new PutItemCommand({
      TableName: outputs['AccessTokensTableName'],
      Item: {
        digest: { S: hash('sha256', DEVELOPMENT_TOKEN) },
        name: { S: 'development' },
        createdAt: { N: String(now) },
        expiresAt: { N: String(now + 365 * 24 * 60 * 60) },
      },
    }),
  );
}

/**
 * AWS_ENDPOINT_URL_DYNAMODB where it is set. Throws where it leaves this machine: the development
 * token is public and must never stand in a real table.
 */
export function loopbackEndpoint(): string | undefined {
  const value = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  if (!value) return undefined;
  const { protocol = '', hostname = '' } = URL.parse(value) ?? {};
  if (!['http:', 'https:'].includes(protocol) || !/^(localhost|\[::1\]|127\.[\d.]+)$/.test(hostname)) {
    throw new Error(
      `AWS_ENDPOINT_URL_DYNAMODB was "${value}"; it must be an http address of this machine (127.0.0.1, localhost or [::1]).`,
    );
  }
  return value;
}

function connect(endpoint: string, { ofService = false, closeEngine = async () => {} } = {}): LocalDynamoDb {
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  return {
    endpoint,
    client,
    ofService,
    close: async () => {
      client.destroy();
      await closeEngine();
    },
  };
}

async function open(whose: 'command' | 'service', deadline: number): Promise<LocalDynamoDb> {
  const given = loopbackEndpoint();
  if (given !== undefined) return connect(given);
  mkdirSync(dataDirectory, { recursive: true });
  for (;;) {
    const lock = takeLock();
    if (lock) return await embed(lock, whose);
    const service = runningService();
    if (service && whose === 'command') return connect(service.endpoint, { ofService: true });
    if (service) {
      throw new Error(
        `Another npm start or npm run dev of this folder is running and has its data, .local/, open (process ${service.pid}). End it, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB of this machine.`,
      );
    }
    if (Date.now() > deadline) {
      throw new Error(
        `Another command has had the data of the local run, .local/, open for ${MAX_WAIT_MS / 1000} s. Try again when it has ended.`,
      );
    }
    await sleep(POLL_MS);
  }
}

function takeLock(): DatabaseSync | undefined {
  const lock = new DatabaseSync(lockFile);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

async function embed(lock: DatabaseSync, whose: 'command' | 'service'): Promise<LocalDynamoDb> {
  // One that was killed has left it behind.
  rmSync(serviceFile, { force: true });
  const server = dynalite({ path: join(dataDirectory, 'dynamodb'), createTableMs: 0 });
  // For a caller that breaks off in the middle of its body, dynalite would throw, and end the local run.
  server.on('request', (request) => request.removeAllListeners('error').on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (whose === 'service') writeFileSync(serviceFile, JSON.stringify({ endpoint, pid: process.pid }));

  async function closeEngine(): Promise<void> {
    rmSync(serviceFile, { force: true });
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    lock.close();
  }

  return connect(endpoint, { closeEngine });
}

/** The service that has the embedded store open, if what has it open is a service. */
function runningService(): { endpoint: string; pid: number } | undefined {
  try {
    const service = JSON.parse(String(readFileSync(serviceFile))) as { endpoint: string; pid: number };
    // Throws where there is no such process: it was killed, and whoever has the lock now is about to remove the file.
    process.kill(service.pid, 0);
    return service;
  } catch {
    return undefined;
  }
}
