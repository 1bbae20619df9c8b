import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { type AttributeValue, BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { loopbackEndpoint, openLocalDynamoDb, SERVICE_ASSEMBLY } from '../local/dynamodb.ts';
import { withOwnAssembly } from '../local/synthesize.ts';
import { readTemplate, type Template } from '../local/template.ts';

export interface Tables {
  client: DynamoDBClient;
  /** The table that an output of the stack names. Throws where there is no such output. */
  tableName(output: 'PlantsTableName' | 'AccessTokensTableName'): string;
}

/** Opens the tables of a deployed stack, or without one those of the local run, for as long as `use` takes. */
export async function withTables(stack: string | undefined, use: (tables: Tables) => Promise<void>): Promise<void> {
  if (stack !== undefined) {
    const outputs = await outputsOf(stack);
    await use({ client: new DynamoDBClient(), tableName: (output) => named(stack, outputs, output) });
    return;
  }
  loopbackEndpoint();
  const template = await templateOfTables();
  // A command on tokens leaves those alone that it is not about.
  const dynamoDb = await openLocalDynamoDb(template, { developmentToken: false });
  try {
    const { outputs } = template;
    await use({ client: dynamoDb.client, tableName: (output) => named('of the local run', outputs, output) });
  } finally {
    await dynamoDb.close();
  }
}

/** The most ids that `plantsById` takes ("BatchGetItem"). */
export const MAX_IDS = 100;

/** The plants that there are of such ids, as items of the table by their id. */
export async function plantsById(
  client: DynamoDBClient,
  tableName: string,
  ids: string[],
): Promise<Map<string, Record<string, AttributeValue>>> {
  const found = new Map<string, Record<string, AttributeValue>>();
  let keys: Record<string, AttributeValue>[] = ids.map((id) => ({ id: { N: id } }));
  while (keys.length > 0) {
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: keys, ConsistentRead: true } } }),
    );
    for (const item of Responses?.[tableName] ?? []) found.set(item['id']?.N ?? '', item);
    keys = UnprocessedKeys?.[tableName]?.Keys ?? [];
  }
  return found;
}

/** As the service was synthesized last, if it was ever started: the tables are the same, and it takes no time. */
async function templateOfTables(): Promise<Template> {
  if (existsSync(join(SERVICE_ASSEMBLY, 'manifest.json'))) return readTemplate(SERVICE_ASSEMBLY);
  return await withOwnAssembly(async (assembly) => readTemplate(assembly));
}

async function outputsOf(stack: string): Promise<Record<string, string | undefined>> {
  const { Stacks } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((error: Error) => {
      throw new Error(`The stack ${stack} cannot be read: ${error.message}`);
    });
  return Object.fromEntries(Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]) ?? []);
}

function named(stack: string, outputs: Record<string, string | undefined>, output: string): string {
  const name = outputs[output];
  if (name) return name;
  throw new Error(`The stack ${stack} has no output ${output}; is it a plant store, and deployed to its end?`);
}
