import { createInterface } from 'node:readline/promises';
import { type AttributeValue, paginateScan } from '@aws-sdk/client-dynamodb';
import { plantMemberNames } from '../functions/create-plant/contract.generated.js';
import { command } from './shared/command.ts';
import { findTable, printTable } from './shared/table.ts';

const USAGE = `Usage: npm run plants -- [--stack STACK]

Lists the stored plants, in no particular order. In a terminal it pauses after each page of 20. Without --stack, the
plants are those of the local run.`;

const OPTIONS = { stack: { type: 'string' } } as const;
const PAGE_SIZE = 20;
const MAX_CELL_LENGTH = 60;
const COLUMNS = ['id', ...plantMemberNames];

await command({ usage: USAGE, options: OPTIONS }, async ({ stack }) => {
  const { client, tableName } = await findTable(stack, 'plants');
  let count = 0;
  const scan = paginateScan({ client, pageSize: PAGE_SIZE }, { TableName: tableName, ConsistentRead: true });
  for await (const { Items = [], LastEvaluatedKey } of scan) {
    if (Items.length > 0) {
      const rows = Items.map((item) => COLUMNS.map((column) => cell(item[column])));
      printTable([COLUMNS.map((column) => column.toUpperCase()), ...rows]);
    }
    count += Items.length;
    if (LastEvaluatedKey && process.stdin.isTTY && process.stdout.isTTY) await waitForEnter();
  }
  console.error(`Plants in ${tableName}: ${count}.`);
});

/** Shows a text in quotes and with escapes, so that an empty one differs from a missing one. Cuts a long one. */
function cell({ S, N, BOOL }: Partial<AttributeValue> = {}): string {
  const text = N ?? JSON.stringify(S ?? BOOL) ?? '-';
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…` : text;
}

async function waitForEnter(): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  await terminal.question('Press Enter for the next page, Ctrl-C to end. ');
  terminal.close();
}
