import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { command, WrongArguments } from './command.ts';
import { type RestoreSum, restorePlants } from './restore-plants.ts';
import { withTable } from './table.ts';

/*
 * npm run restore: puts the plants of another table, such as one restored from a backup, back into the
 * plants table that the service uses.
 */

const USAGE = `Usage: npm run restore -- --from TABLE [--from-region REGION] [--stack STACK] [--dry-run] [--overwrite]

Writes the plants that TABLE has and the stack's plants table lacks; with --overwrite also those that differ.
--from-region is TABLE's where it is not the stack's. Without --stack it is the local run's plants table.`;

const OPTIONS = {
  from: { type: 'string' },
  'from-region': { type: 'string' },
  stack: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
} as const;

await command({ usage: USAGE, options: OPTIONS }, async (values) => {
  const { from, stack, overwrite, 'from-region': region, 'dry-run': dryRun } = values;
  if (from === undefined) throw new WrongArguments('--from is missing.');
  await withTable(stack, 'PlantsTableName', async (target) => {
    const client = region === undefined ? target.client : new DynamoDBClient({ region });
    const onProgress = (soFar: RestoreSum) => process.stderr.isTTY && process.stderr.write(`\r${counts(soFar)}`);
    const options = { dryRun, overwrite, onProgress };
    const sum = await restorePlants({ client, tableName: from }, target, options).catch((error: Error) => {
      throw new Error(
        `The plants of ${from} could not be put back: ${error.message || error.name}. To begin again is safe.`,
      );
    });
    console.log(`\n${counts(sum)}${sum.examples.length > 0 ? `, such as ${sum.examples.join(', ')}` : ''}.`);
    const written = dryRun ? 0 : sum.missing + (overwrite ? sum.different : 0);
    console.log(`Plants written to ${target.tableName}: ${written}.`);
  });
});

function counts({ alike, missing, different }: RestoreSum): string {
  return `${alike} alike, ${missing} missing, ${different} different`;
}
