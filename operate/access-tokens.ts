import { DeleteItemCommand, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { type AccessTokenItem, newToken } from '../functions/shared/access-tokens/token.ts';
import type { Table } from './table.ts';

/**
 * Issues a token under a free name and returns it, the only time that it is seen.
 * Times are in seconds since 1970. Throws where the name is in use.
 */
export async function createToken(table: Table, name: string, createdAt: number, expiresAt: number): Promise<string> {
  if ((await listTokens(table)).some((item) => item.name === name)) {
    throw new Error(`The name "${name}" is in use; revoke that token first, or choose another name.`);
  }
  const { token, item } = newToken(name, createdAt, expiresAt);
  await table.client.send(new PutItemCommand({ TableName: table.tableName, Item: item }));
  return token;
}

/**
 * All tokens, expired ones included until the table's TTL removes them, by name. An item without times is of 1970: the
 * function takes it for expired too.
 */
export async function listTokens({ client, tableName }: Table): Promise<AccessTokenItem[]> {
  const pages = await Array.fromAsync(paginateScan({ client }, { TableName: tableName, ConsistentRead: true }));
  return pages
    .flatMap(({ Items = [] }) => Items)
    .map(({ digest, name, createdAt, expiresAt }) => ({
      digest: digest?.S ?? '',
      name: name?.S ?? '',
      createdAt: Number(createdAt?.N ?? 0),
      expiresAt: Number(expiresAt?.N ?? 0),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Withdraws the tokens of a name. Throws where there is none. */
export async function revokeToken(table: Table, name: string): Promise<void> {
  const named = (await listTokens(table)).filter((item) => item.name === name);
  if (named.length === 0) throw new Error(`There is no token named "${name}".`);
  for (const { digest } of named) {
    await table.client.send(new DeleteItemCommand({ TableName: table.tableName, Key: { digest: { S: digest } } }));
  }
}
