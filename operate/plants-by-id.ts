import { type AttributeValue, BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Table } from './table.ts';

/** The most ids that `plantsById` takes ("BatchGetItem"). */
export const MAX_IDS = 100;

/** The plants that there are of such ids, as items of the table by their id. */
export async function plantsById(
  { client, tableName }: Table,
  ids: string[],
): Promise<Map<string, Record<string, AttributeValue>>> {
  const found = new Map<string, Record<string, AttributeValue>>();
  let keys: Record<string, AttributeValue>[] = ids.map((id) => ({ id: { N: id } }));
  while (keys.length > 0) {
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: keys, ConsistentRead: true } } }),
    );
    for (const item of Responses?.[tableName] ?? []) found.set(item['id']?.N ?? '', item);
    keys = UnprocessedKeys?.[tableName]?.Keys ?? [];
  }
  return found;
}
