import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { type AttributeValue, BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openLocalDynamoDb, SERVICE_ASSEMBLY } from '../local/dynamodb.ts';
import { withOwnAssembly } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';

/** A table, and the client that reaches it. */
export interface Table {
  client: DynamoDBClient;
  tableName: string;
}

export type Item = Record<string, AttributeValue>;

/** The outputs of the stack that name its tables. */
type TableOutput = 'PlantsTableName' | 'AccessTokensTableName';

/** The most keys that one request takes ("BatchGetItem"). */
const MAX_KEYS = 100;

/**
 * Opens a table of a deployed stack, or without one that of the local run, for as long as `use` takes.
 * Throws where the stack cannot be read or names no such table.
 */
export async function withTable(
  stack: string | undefined,
  output: TableOutput,
  use: (table: Table) => Promise<void>,
): Promise<void> {
  if (stack !== undefined) {
    const tableName = named(`The stack ${stack}`, await outputsOf(stack), output);
    return await use({ client: new DynamoDBClient(), tableName });
  }
  // As it was synthesized last, if the service was ever started: the tables are the same, and it takes no time.
  const synthesized = existsSync(join(SERVICE_ASSEMBLY, 'manifest.json'));
  const template = synthesized
    ? readTemplate(SERVICE_ASSEMBLY)
    : await withOwnAssembly(async (own) => readTemplate(own));
  const tableName = named('The stack of the local run', template.outputs, output);
  // A revoked development token stays revoked.
  const { client, close } = await openLocalDynamoDb(template, { developmentToken: false });
  await use({ client, tableName }).finally(close);
}

async function outputsOf(stack: string): Promise<Record<string, string | undefined>> {
  const { Stacks } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((error: Error) => {
      throw new Error(`The stack ${stack} cannot be read: ${error.message}`);
    });
  return Object.fromEntries(Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]) ?? []);
}

function named(stack: string, outputs: Record<string, string | undefined>, output: TableOutput): string {
  const name = outputs[output];
  if (name) return name;
  throw new Error(`${stack} has no output ${output}; is it a stack of this service, and was its deployment finished?`);
}

/** The plants that there are of such ids, as items of the table by their id. */
export async function plantsById({ client, tableName }: Table, ids: string[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const keys: Item[] = ids.map((id) => ({ id: { N: id } }));
  while (keys.length > 0) {
    const request = { [tableName]: { Keys: keys.splice(-MAX_KEYS), ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems: request }));
    for (const item of Responses?.[tableName] ?? []) found.set(idOf(item), item);
    keys.push(...(UnprocessedKeys?.[tableName]?.Keys ?? []));
  }
  return found;
}

export function idOf({ id }: Item): string {
  return id?.N ?? '';
}
