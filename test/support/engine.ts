import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { inject } from 'vitest';
import type { Plant } from '../../functions/create-plant/contract.generated.js';
import { digestOf } from '../../functions/shared/access-tokens/token.ts';
import { createTables, LOCAL_CREDENTIALS, openLocalDynamoDb, putDevelopmentToken } from '../../local/dynamodb.ts';
import { LOCAL_REGION, readTemplate } from '../../local/template.ts';
import { startDynamoDbLocal } from './dynamodb-local.ts';

declare module 'vitest' {
  interface ProvidedContext {
    engine: 'dynalite' | 'DynamoDB Local';
  }
}

/** A stored plant; the id in decimal digits. */
export type StoredPlant = Plant & { id: string };

/**
 * A real engine with the template's tables and the development token, of this test file alone.
 * Points the environment of the function at itself.
 */
export async function startEngine() {
  const { endpoint, close } = await (inject('engine') === 'dynalite' ? startDynalite() : startDynamoDbLocal());
  const template = readTemplate(inject('assembly'));
  const plantsTable = template.outputs['PlantsTableName'] ?? '';
  const accessTokensTable = template.outputs['AccessTokensTableName'] ?? '';
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
    PLANTS_TABLE_NAME: plantsTable,
    ACCESS_TOKENS_TABLE_NAME: accessTokensTable,
  });
  const dynamoDb = await openLocalDynamoDb();
  const { client } = dynamoDb;
  await createTables(dynamoDb, template);
  await putDevelopmentToken(dynamoDb, template);

  return {
    endpoint,
    template,
    client,
    plantsTable,
    accessTokensTable,

    /** The plant that the table has under an id. */
    async stored(id: bigint): Promise<StoredPlant | undefined> {
      const read = { TableName: plantsTable, Key: { id: { N: String(id) } }, ConsistentRead: true };
      const { Item: { id: key, ...members } = {} } = await client.send(new GetItemCommand(read));
      const values = Object.entries(members).map(([name, { S, BOOL, N }]) => [name, S ?? BOOL ?? Number(N)]);
      return key && ({ id: key.N, ...Object.fromEntries(values) } as StoredPlant);
    },

    /** Puts a token into the table as `npm run token` would. */
    async putToken(token: string, name: string, expiresAt: number): Promise<void> {
      const Item = { digest: { S: digestOf(token) }, name: { S: name }, expiresAt: { N: String(expiresAt) } };
      await client.send(new PutItemCommand({ TableName: accessTokensTable, Item }));
    },

    async close(): Promise<void> {
      client.destroy();
      await close();
    },
  };
}

async function startDynalite(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const server = dynalite({ createTableMs: 0 });
  const unanswered = new Set<Promise<void>>();
  server.prependListener('request', (_, response) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    unanswered.add(promise);
    const { end } = response;
    Object.assign(response, {
      end(...last: Parameters<typeof end>) {
        resolve();
        unanswered.delete(promise);
        return end.apply(response, last);
      },
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      // What a killed caller has asked for is still carried out, and dynalite throws where its data is closed meanwhile.
      while (unanswered.size > 0) await Promise.all(unanswered);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Engine = Awaited<ReturnType<typeof startEngine>>;
