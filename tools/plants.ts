import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { PLANTS_TABLE } from '../infra/shared-with-local-run/table-keys.ts';
import { command, requireMatch, UsageError } from './command.ts';
import { isoTime } from './iso-time.ts';
import { printable } from './printable.ts';
import { findTable } from './table.ts';

const USAGE = `Usage:
  npm run plants
  npm run plants -- --stack STACK
  npm run plants -- --table TABLE

Prints each stored plant as one line of JSON, with all its attributes, such as the time and the token of its creation.
The plants are in no particular order: those of the local run, of a stack, or of a table of your AWS account, such as one
restored from a backup.`;

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
      const { id, ...others } = item;
      if (!id?.N) throw new Error(`The table ${tableName} has an item without an id; it must have plants.`);
      const names = Object.keys(others).toSorted();
      // The id is first, because docs/tokens-and-plants.md finds it there.
      const plant = Object.fromEntries(['id', ...names].map((name) => [name, jsonValue(name, item[name])]));
      console.log(printable(JSON.stringify(plant)));
    }
  }
});

/** Returns the value of an attribute, for JSON.stringify. */
function jsonValue(name: string, attribute?: AttributeValue): unknown {
  const { S, N, BOOL } = attribute ?? {};
  if (name === 'createdAt') return isoTime(Number(N));
  // As a Number, one beyond 2^53 would be rounded.
  return S ?? BOOL ?? (N === undefined ? attribute : rawJSON(N));
}

async function* readPages(client: DynamoDBClient, tableName: string) {
  try {
    yield* paginateScan({ client }, { TableName: tableName, ConsistentRead: true });
  } catch (thrown) {
    const reason = (thrown as Error).message;
    throw new Error(
      `The table ${tableName} cannot be read: ${reason} (a table of AWS must be in the region AWS_REGION)`,
    );
  }
}
