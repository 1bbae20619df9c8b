import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { MAX_IDS, plantsById } from './plants-by-id.ts';
import type { Table } from './table.ts';

interface RestoreOptions {
  /** Only counts. */
  dryRun: boolean;
  /** Also writes the plants that differ. */
  overwrite: boolean;
  onProgress: (sum: RestoreSum) => void;
}

/** How many plants of the source the target holds alike, lacks, and holds otherwise. */
export interface RestoreSum {
  alike: number;
  missing: number;
  different: number;
  /** Ids of the first of those that differ. */
  examples: string[];
}

type Item = Record<string, AttributeValue>;

const MAX_EXAMPLES = 10;

/**
 * Puts the plants of a restored table back into the one that the service uses. A plant that is created
 * there meanwhile is never overwritten, and none is deleted; to repeat it does no harm.
 */
export async function restorePlants(from: Table, to: Table, options: RestoreOptions): Promise<RestoreSum> {
  const sum: RestoreSum = { alike: 0, missing: 0, different: 0, examples: [] };
  const scan = { TableName: from.tableName, ConsistentRead: true, Limit: MAX_IDS };
  for await (const { Items = [] } of paginateScan({ client: from.client }, scan)) {
    const there = await plantsById(to, Items.map(idOf));
    await Promise.all(
      Items.map(async (item) => {
        const id = idOf(item);
        const existing = there.get(id);
        if (existing && isDeepStrictEqual(existing, item)) {
          sum.alike += 1;
        } else if (existing) {
          sum.different += 1;
          if (sum.examples.length < MAX_EXAMPLES) sum.examples.push(id);
          if (options.overwrite && !options.dryRun) await put(to, item);
        } else {
          sum.missing += 1;
          if (!options.dryRun) await putIfFree(to, item);
        }
      }),
    );
    options.onProgress(sum);
  }
  return sum;
}

async function put({ client, tableName }: Table, item: Item): Promise<void> {
  await client.send(new PutItemCommand({ TableName: tableName, Item: item }));
}

async function putIfFree({ client, tableName }: Table, item: Item): Promise<void> {
  const write = { TableName: tableName, Item: item, ConditionExpression: 'attribute_not_exists(id)' };
  await client.send(new PutItemCommand(write)).catch((error) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
}

function idOf({ id }: Item): string {
  return id?.N ?? '';
}
