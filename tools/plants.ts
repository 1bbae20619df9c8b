import { paginateScan } from '@aws-sdk/client-dynamodb';
import { fromItem } from '../functions/create-plant/plant.ts';
import { PLANTS_TABLE } from '../infra/shared-with-local-run/table-keys.ts';
import { command } from './command.ts';
import { isoTime, printable } from './printable.ts';
import { findTable } from './table.ts';

const USAGE = `Usage: npm run plants [-- --stack STACK]

Prints each stored plant as one line of JSON, with when it was created and by which token, in no particular order.
Without --stack, the plants are those of the local run.`;

// TypeScript has no type for rawJSON yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

await command({ usage: USAGE, options: { stack: { type: 'string' } } }, async ({ stack }) => {
  const { client, tableName } = await findTable(PLANTS_TABLE, stack);
  for await (const { Items = [] } of paginateScan({ client }, { TableName: tableName, ConsistentRead: true })) {
    for (const item of Items) {
      const { id, ...members } = fromItem(item);
      const { createdAt, createdBy } = item;
      const creation = { createdAt: createdAt && isoTime(Number(createdAt.N)), createdBy: createdBy?.S };
      // As a Number, an id beyond 2^53 would be rounded.
      const plant = { id: rawJSON(String(id)), ...members, ...creation };
      console.log(printable(JSON.stringify(plant)));
    }
  }
});
