import { type AttributeValue, BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Table } from './table.ts';

/** The most keys that one request takes ("BatchGetItem"). */
const MAX_KEYS = 100;

export type Item = Record<string, AttributeValue>;

/** The plants that there are of such ids, as items of the table by their id. */
export async function plantsById({ client, tableName }: Table, ids: string[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const keys: Item[] = ids.map((id) => ({ id: { N: id } }));
  while (keys.length > 0) {
    const request = { [tableName]: { Keys: keys.splice(-MAX_KEYS), ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems: request }));
    for (const item of Responses?.[tableName] ?? []) found.set(idOf(item), item);
    keys.push(...(UnprocessedKeys?.[tableName]?.Keys ?? []));
  }
  return found;
}

export function idOf({ id }: Item): string {
  return id?.N ?? '';
}
