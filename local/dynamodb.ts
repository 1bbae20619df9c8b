import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, type FSWatcher, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
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
import { projectRoot } from './synthesize.ts';
import { LOCAL_REGION, type Template } from './template.ts';

/** The token of the local run and of the sample events. It is public, so it must never be in a real table. */
export const DEVELOPMENT_TOKEN = 'plantstore_LocalDevelopmentTokenValidNowhereElse000000';

/** dynalite and DynamoDB Local accept any credentials. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

const dataDirectory = join(projectRoot, '.local');
/** A folder for each build of the running service. They are not in `cdk.out`, because a deployment may be reading that. */
export const SERVICE_BUILDS = join(dataDirectory, 'builds');
/** A link to the running service's cloud assembly, the folder of its last build. */
export const SERVICE_ASSEMBLY = join(dataDirectory, 'cdk.out');
/** The endpoint of the running service's DynamoDB, for the other commands. Only the process with the lock writes this file. */
const serviceFile = join(dataDirectory, 'service.json');

/** Maximum time to wait for another command to end. */
const MAX_WAIT_MS = 15_000;
const POLL_MS = 50;

/** The treatment of the stored data: `keep` uses it, `fresh` deletes it first, `memory` neither uses nor stores any. */
export type Storage = 'keep' | 'fresh' | 'memory';

export interface LocalDynamoDb {
  endpoint: string;
  client: DynamoDBClient;
  close(): Promise<void>;
}

/**
 * Opens the local DynamoDB: the one at AWS_ENDPOINT_URL_DYNAMODB, or that of the running service, or the embedded one.
 *
 * @param storage set by the service, which other commands connect to; default: a command
 * @throws if `storage` is set and another service is running
 */
export async function openLocalDynamoDb(storage?: Storage): Promise<LocalDynamoDb> {
  const endpoint = loopbackEndpoint();
  if (endpoint !== undefined) {
    if (storage === undefined || storage === 'keep') return connect(endpoint);
    throw new Error(`--${storage} is for the embedded DynamoDB; unset AWS_ENDPOINT_URL_DYNAMODB.`);
  }
  createDataDirectory();
  for (const deadline = Date.now() + MAX_WAIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const lock = acquireLock();
    if (lock) return await startEmbedded(lock, storage);
    const service = runningService();
    if (service && storage === undefined) return connect(service.endpoint);
    if (service) {
      throw new Error(
        `Another npm start or npm run dev of this folder is running and has its data, .local/, open (process ${service.pid}). End it, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB of this machine.`,
      );
    }
  }
  throw new Error(
    `Another command has had the data of the local run, .local/, open for ${MAX_WAIT_MS / 1000} s. Try again when it has ended.`,
  );
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
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  return { endpoint, client, close: async () => client.destroy() };
}

function createDataDirectory(): void {
  try {
    mkdirSync(dataDirectory, { recursive: true });
  } catch (error) {
    throw new Error(`The local run cannot create its folder: ${(error as Error).message}`);
  }
}

/** "Result and Error Codes" of SQLite. */
const SQLITE_BUSY = 5;

/**
 * Returns the lock on the data, or undefined if another process has it. The operating system releases the lock when the
 * process ends, even if it is killed. dynalite's own lock, LevelDB's, would crash the second process.
 */
function acquireLock(): DatabaseSync | undefined {
  const lock = new DatabaseSync(join(dataDirectory, 'lock'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
    // A service that was killed could not remove its file.
    rmSync(serviceFile, { force: true });
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    return undefined;
  }
}

async function startEmbedded(lock: DatabaseSync, storage?: Storage): Promise<LocalDynamoDb> {
  const path = join(dataDirectory, 'dynamodb');
  if (storage === 'fresh') rmSync(path, { recursive: true, force: true });
  const server = dynalite({ ...(storage !== 'memory' && { path }), createTableMs: 0 });
  // Without this, a client that disconnects while it sends its body would crash dynalite, and the local run.
  server.on('request', (request) => request.removeAllListeners('error').on('error', () => {}));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (storage !== undefined) writeFileSync(serviceFile, JSON.stringify({ endpoint, pid: process.pid }));
  const watcher = storage === undefined ? undefined : warnIfDeleted();
  const { client } = connect(endpoint);
  return {
    endpoint,
    client,
    close: async () => {
      client.destroy();
      watcher?.close();
      // The event `close` comes before dynalite has closed the data, which the next process could then not open.
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      lock.close();
    },
  };
}

/** Prints a warning when the data of the running service is deleted. */
function warnIfDeleted(): FSWatcher {
  const watcher = watch(dataDirectory, { persistent: false }, () => {
    if (existsSync(serviceFile)) return;
    watcher.close();
    console.error('The data of this service, .local/, was deleted. Start it again: until then it may fail.');
  });
  return watcher;
}

/** Returns the endpoint and process id of the running service, or undefined if there is none. */
function runningService(): { endpoint: string; pid: number } | undefined {
  try {
    return JSON.parse(readFileSync(serviceFile, 'utf8'));
  } catch {
    return undefined;
  }
}
