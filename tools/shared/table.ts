import { setTimeout as sleep } from 'node:timers/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { type AttributeValue, BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type TableId, tableLogicalId, tableOutput } from '../../infra/data/table-keys.ts';
import { localClient } from '../local/dynamodb.ts';
import { findLocalRun } from '../local/local-run.ts';

/** A table, and a client for its account and region. */
export interface Table {
  client: DynamoDBClient;
  tableName: string;
}

export type StoredItem = Record<string, AttributeValue>;

/**
 * Returns a table.
 *
 * @param stack the name of a deployed stack; undefined for the local run
 * @throws if there is no such stack, or no local run
 */
export async function findTable(stack: string | undefined, id: TableId): Promise<Table> {
  if (stack !== undefined) return { client: new DynamoDBClient(), tableName: await readOutput(stack, tableOutput(id)) };
  const running = await findLocalRun();
  if (running) return { client: localClient(running.endpoint), tableName: tableLogicalId(id) };
  throw new Error('There is no local run. Start it with npm start, or name a deployed stack with --stack.');
}

async function readOutput(stack: string, output: string): Promise<string> {
  const command = new DescribeStacksCommand({ StackName: stack });
  const { Stacks } = await new CloudFormationClient().send(command).catch((thrown: Error) => {
    throw new Error(`The stack ${stack} cannot be read: ${thrown.message}`);
  });
  const value = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (value) return value;
  throw new Error(`The stack ${stack} has no output ${output}; it must be a deployed stack of this service.`);
}

/**
 * Reads plants. Returns a map from id to item, without the plants that do not exist.
 *
 * @param ids in decimal digits, at most 100 ("BatchGetItem")
 */
export async function plantsById({ client, tableName }: Table, ids: string[]): Promise<Map<string, StoredItem>> {
  const found = new Map<string, StoredItem>();
  let keys: StoredItem[] = ids.map((id) => ({ id: { N: id } }));
  while (keys.length > 0) {
    const request = { [tableName]: { Keys: keys, ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems: request }));
    for (const item of Responses?.[tableName] ?? []) found.set(idOf(item), item);
    keys = UnprocessedKeys?.[tableName]?.Keys ?? [];
    // DynamoDB refills a throttled table's throughput once per second.
    if (keys.length > 0) await sleep(500);
  }
  return found;
}

export function idOf({ id }: StoredItem): string {
  return id?.N ?? '';
}
