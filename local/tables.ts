import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { loopbackEndpoint, openLocalDynamoDb } from './dynamodb.ts';
import { synthesizedBefore } from './synthesize.ts';
import { readTemplate } from './template.ts';

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
  const template = readTemplate(await synthesizedBefore());
  const dynamoDb = await openLocalDynamoDb(template);
  try {
    const { outputs } = template;
    await use({ client: dynamoDb.client, tableName: (output) => named('of the local run', outputs, output) });
  } finally {
    await dynamoDb.close();
  }
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
