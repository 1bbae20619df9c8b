import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { type Item, idOf, plantsById, type Table } from './table.ts';

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

const MAX_EXAMPLES = 10;
/** So many plants are compared, and written, at once. */
const MAX_AT_ONCE = 100;

/**
 * Puts the plants of a restored table back into the one that the service uses, and deletes none. A plant that is
 * created there between the look-up of its page and the write stays; with `overwrite`, one that the look-up finds
 * different is overwritten, however new it is. To repeat it does no harm.
 */
export async function restorePlants(from: Table, to: Table, options: RestoreOptions): Promise<RestoreSum> {
  const { dryRun, overwrite, onProgress } = options;
  const sum: RestoreSum = { alike: 0, missing: 0, different: 0, examples: [] };
  const scan = { TableName: from.tableName, ConsistentRead: true, Limit: MAX_AT_ONCE };
  for await (const { Items = [] } of paginateScan({ client: from.client }, scan)) {
    const there = await plantsById(to, Items.map(idOf));
    const groups = Object.groupBy(Items, (item) => compare(item, there.get(idOf(item))));
    const { alike = [], missing = [], different = [] } = groups;
    sum.alike += alike.length;
    sum.missing += missing.length;
    sum.different += different.length;
    sum.examples.push(...different.map(idOf).slice(0, MAX_EXAMPLES - sum.examples.length));
    if (!dryRun) await Promise.all(missing.map((item) => put(to, item, true)));
    if (!dryRun && overwrite) await Promise.all(different.map((item) => put(to, item, false)));
    onProgress(sum);
  }
  return sum;
}

function compare(item: Item, existing: Item | undefined): 'alike' | 'missing' | 'different' {
  if (existing === undefined) return 'missing';
  return isDeepStrictEqual(existing, item) ? 'alike' : 'different';
}

/** Where it is to be free, a plant that was created there meanwhile stays. */
async function put({ client, tableName }: Table, item: Item, mustBeFree: boolean): Promise<void> {
  const condition = mustBeFree ? { ConditionExpression: 'attribute_not_exists(id)' } : {};
  await client.send(new PutItemCommand({ TableName: tableName, Item: item, ...condition })).catch((error) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
}
