import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { command } from './command.ts';
import { type RestoreSum, restorePlants } from './restore-plants.ts';
import { withTables } from './tables.ts';

/*
 * npm run restore: puts the plants of another table, one restored from a backup say, back into the
 * running one.
 */

const USAGE = `Usage: npm run restore -- --from TABLE [--from-region REGION] [--stack STACK] [--dry-run] [--overwrite]

Writes the plants that TABLE has and the store lacks; with --overwrite also those that differ.
--from-region is TABLE's where it is not the stack's. Without --stack it is the local run's store.`;

await command(async () => {
  const { from, stack, overwrite, 'from-region': region, 'dry-run': dryRun } = readArguments();
  if (from === undefined) throw new Error(USAGE);
  await withTables(stack, async ({ client, tableName }) => {
    const source = { client: region === undefined ? client : new DynamoDBClient({ region }), tableName: from };
    const target = { client, tableName: tableName('PlantsTableName') };
    const onProgress = (soFar: RestoreSum) => process.stderr.isTTY && process.stderr.write(`\r${counts(soFar)}`);
    const sum = await restorePlants(source, target, { dryRun, overwrite, onProgress }).catch((error: Error) => {
      throw new Error(
        `The plants of ${from} could not be put back: ${error.message || error.name}. To begin again is safe.`,
      );
    });
    console.log(`\n${counts(sum)}${sum.examples.length > 0 ? `, such as ${sum.examples.join(', ')}` : ''}.`);
    const written = dryRun ? 0 : sum.missing + (overwrite ? sum.different : 0);
    console.log(`Plants written to ${target.tableName}: ${written}.`);
  });
});

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        from: { type: 'string' },
        'from-region': { type: 'string' },
        stack: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        overwrite: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`);
  }
}

function counts({ alike, missing, different }: RestoreSum): string {
  return `${alike} alike, ${missing} missing, ${different} different`;
}
