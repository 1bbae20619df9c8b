import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { fromItem } from '../functions/create-plant/plant.generated.ts';
import { PLANTS_TABLE } from '../infra/shared-with-local-run/table-keys.ts';
import { command, requireMatch, UsageError } from './command.ts';
import { isoTime } from './iso-time.ts';
import { printable } from './printable.ts';
import { findTable } from './table.ts';

const USAGE = `Usage:
  npm run plants
  npm run plants -- --stack STACK
  npm run plants -- --table TABLE

Prints each stored plant as one line of JSON, with when it was created and by which token, in no particular order: the
plants of the local run, of a stack, or of a table of your AWS account, such as one restored from a backup.`;

// TypeScript has no type for rawJSON yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

const OPTIONS = { stack: { type: 'string' }, table: { type: 'string' } } as const;

await command({ usage: USAGE, options: OPTIONS }, async ({ stack, table }) => {
  if (stack !== undefined && table !== undefined) throw new UsageError('Use only one of --stack and --table.');
  if (table !== undefined) requireMatch('--table', table, /^[\w.-]+$/, 'the name of a table');
  const { client, tableName } = table
    ? { client: new DynamoDBClient(), tableName: table }
    : await findTable(PLANTS_TABLE, stack);
  for await (const { Items = [] } of readPages(client, tableName)) {
    for (const item of Items) {
      const { id, ...members } = fromItem(item);
      if (id === undefined) throw new Error(`The table ${tableName} has an item without an id; it must have plants.`);
      const { createdAt, createdBy } = item;
      const creation = { createdAt: createdAt && isoTime(Number(createdAt.N)), createdBy: createdBy?.S };
      // As a Number, an id beyond 2^53 would be rounded.
      const plant = { id: rawJSON(id), ...members, ...creation };
      console.log(printable(JSON.stringify(plant)));
    }
  }
});

async function* readPages(client: DynamoDBClient, tableName: string) {
  try {
    yield* paginateScan({ client }, { TableName: tableName, ConsistentRead: true });
  } catch (thrown) {
    throw new Error(`The table ${tableName} cannot be read in the region AWS_REGION: ${(thrown as Error).message}`);
  }
}
