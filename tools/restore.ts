import { isDeepStrictEqual } from 'node:util';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { plantShape } from '../functions/create-plant/contract.generated.js';
import { command, UsageError } from './shared/command.ts';
import { findTable, idOf, plantsById, type StoredItem, type Table } from './shared/table.ts';

const USAGE = `Usage: npm run restore -- --from TABLE [--from-region REGION] [--stack STACK] [--dry-run] [--overwrite]

Copies plants from TABLE, for example a restored backup, to the plants table of STACK, by default that of the local run:
those that are missing there, and with --overwrite also those that are different there. Deletes nothing. --dry-run only
counts. TABLE is in the same DynamoDB, or with --from-region in this region of your AWS account.`;

const OPTIONS = {
  from: { type: 'string' },
  'from-region': { type: 'string' },
  stack: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
} as const;

const MAX_EXAMPLES = 10;
/** Number of plants that are read, compared and written at the same time. */
const PAGE_SIZE = 100;

await command({ usage: USAGE, options: OPTIONS }, async (values) => {
  const { from, stack, overwrite, 'from-region': region, 'dry-run': dryRun } = values;
  if (from === undefined) throw new UsageError('--from is missing; it must be the name of the table to copy from.');
  const target = await findTable(stack, 'plants');
  const source = { client: region === undefined ? target.client : new DynamoDBClient({ region }), tableName: from };
  await restore(source, target, dryRun, overwrite).catch((thrown: Error) => {
    throw new Error(
      `The plants of ${from} could not all be copied: ${thrown.message || thrown.name}. It is safe to run this again.`,
      { cause: thrown },
    );
  });
});

/** Compares the tables page by page, writes the plants that the options select, and prints the counts. */
async function restore(source: Table, target: Table, dryRun: boolean, overwrite: boolean): Promise<void> {
  const counts = { same: 0, missing: 0, different: 0 };
  const examples: string[] = [];
  let written = 0;
  let changed = 0;
  const summary = () => `${counts.same} the same, ${counts.missing} missing, ${counts.different} different`;
  const scan = { TableName: source.tableName, ConsistentRead: true, Limit: PAGE_SIZE };
  for await (const { Items = [] } of paginateScan({ client: source.client }, scan)) {
    const existing = await plantsById(target, Items.map(idOf));
    await Promise.all(
      Items.map(async (item) => {
        const current = existing.get(idOf(item));
        const state = !current ? 'missing' : isDeepStrictEqual(current, item) ? 'same' : 'different';
        counts[state] += 1;
        if (state === 'different' && examples.length < MAX_EXAMPLES) examples.push(idOf(item));
        const mustWrite = state === 'missing' || (state === 'different' && overwrite);
        if (!mustWrite || dryRun) return;
        if (await put(target, item, current)) written += 1;
        else changed += 1;
      }),
    );
    if (process.stderr.isTTY) process.stderr.write(`\r${summary()}`);
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
  console.log(`${summary()}${examples.length > 0 ? `, such as ${examples.join(', ')}` : ''}.`);
  console.log(`Plants written to ${target.tableName}: ${written}.`);
  if (changed > 0) console.log(`Not written, because they were created or changed meanwhile: ${changed}.`);
}

/** Writes a plant. Returns false if the stored plant is no longer `current`, or no longer missing. */
async function put({ client, tableName }: Table, item: StoredItem, current: StoredItem | undefined): Promise<boolean> {
  const condition = current ? isStill(current) : { ConditionExpression: 'attribute_not_exists(id)' };
  try {
    await client.send(new PutItemCommand({ TableName: tableName, Item: item, ...condition }));
    return true;
  } catch (thrown) {
    if (thrown instanceof ConditionalCheckFailedException) return false;
    throw thrown;
  }
}

/**
 * Returns the condition that a stored plant has these attributes, and no other member of the contract. In the local
 * run, it is never true for a plant with a list or a map, because dynalite compares these by identity.
 */
function isStill(current: StoredItem) {
  const names = [...new Set([...Object.keys(current), ...Object.keys(plantShape)])];
  const conditions = names.map((name, i) => (name in current ? `#${i} = :${i}` : `attribute_not_exists(#${i})`));
  const values = Object.values(current).map((value, i) => [`:${i}`, value]);
  return {
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
    ExpressionAttributeValues: Object.fromEntries(values),
  };
}
