import { existsSync } from 'node:fs';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ACCESS_TOKENS_TABLE, PLANTS_TABLE } from '../infra/shared-with-local-run/table-keys.ts';
import { findLocalRun, localClient } from './local/dynamodb.ts';

/** A table, and a client for its account and region. */
export interface Table {
  client: DynamoDBClient;
  tableName: string;
}

/** Returns a table of a deployed stack; if `stack` is undefined, of the local run. */
export async function findTable(
  table: typeof PLANTS_TABLE | typeof ACCESS_TOKENS_TABLE,
  stack: string | undefined,
): Promise<Table> {
  if (stack !== undefined) return { client: new DynamoDBClient(), tableName: await readOutput(stack, `${table}Name`) };
  if (existsSync('.env')) process.loadEnvFile();
  const endpoint = await findLocalRun();
  if (endpoint) return { client: localClient(endpoint), tableName: table };
  const advice = 'If it uses other ports, put them into the file .env. For a deployed stack, add --stack STACK.';
  throw new Error(`There is no local run. Run npm start first. ${advice}`);
}

async function readOutput(stack: string, output: string): Promise<string> {
  const command = new DescribeStacksCommand({ StackName: stack });
  const { Stacks } = await new CloudFormationClient().send(command).catch(({ message }: Error) => {
    const advice = message === 'Region is missing' ? '. Set AWS_REGION to the region of the stack.' : '';
    throw new Error(`The stack ${stack} cannot be read: ${message}${advice}`);
  });
  const value = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (value) return value;
  throw new Error(`The stack ${stack} has no output ${output}; it must be a deployed stack of this service.`);
}
