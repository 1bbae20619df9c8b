import { createInterface } from 'node:readline/promises';
import { type AttributeValue, paginateScan } from '@aws-sdk/client-dynamodb';
import { checked, command } from './shared/command.ts';
import { printable, printRows } from './shared/printable.ts';
import { findTable, plantsById, type Table } from './shared/table.ts';

const USAGE = `Usage: npm run plants -- [ID] [--stack STACK]

Lists the stored plants, in no particular order. In a terminal it pauses after each page of 20. With ID, prints the
whole item of this plant, in DynamoDB's JSON; a negative ID comes last, after another --. Without --stack, the plants
are those of the local run.`;

const OPTIONS = { stack: { type: 'string' } } as const;
const PAGE_SIZE = 20;
const MAX_CELL_LENGTH = 60;
const COLUMNS = ['id', 'name', 'tag'];

await command({ usage: USAGE, options: OPTIONS, optionalArgs: ['ID'] }, async ({ stack }, [id]) => {
  const table = await findTable(stack, 'plants');
  if (id !== undefined) return await printPlant(table, checked('ID', id, /^-?\d{1,19}$/, 'a whole number'));
  const { client, tableName } = table;
  let count = 0;
  const scan = paginateScan({ client, pageSize: PAGE_SIZE }, { TableName: tableName, ConsistentRead: true });
  for await (const { Items = [], LastEvaluatedKey } of scan) {
    if (Items.length > 0) {
      const rows = Items.map((item) => COLUMNS.map((name) => cell(item[name])));
      printRows([COLUMNS.map((name) => name.toUpperCase()), ...rows]);
    }
    count += Items.length;
    if (LastEvaluatedKey && process.stdin.isTTY && process.stdout.isTTY) await waitForEnter();
  }
  console.error(`Plants in ${tableName}: ${count}.`);
});

/** Prints the item of a plant. Throws if there is none. */
async function printPlant(table: Table, id: string): Promise<void> {
  const [item] = (await plantsById(table, [id])).values();
  if (!item) throw new Error(`There is no plant with the id ${id} in ${table.tableName}.`);
  console.log(printable(JSON.stringify(item, null, 2)));
}

/** Shows a value as JSON, so that an empty text differs from a missing one. Cuts a long one. */
function cell(attribute: AttributeValue | undefined): string {
  const text = attribute?.S === undefined ? (attribute?.N ?? '-') : JSON.stringify(attribute.S);
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…` : text;
}

async function waitForEnter(): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  await terminal.question('Press Enter for the next page, Ctrl-C to end. ');
  terminal.close();
}
