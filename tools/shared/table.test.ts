import { BatchWriteItemCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startDynamoDbProxy } from '../../test/support/dynamodb-proxy.ts';
import { startEngine } from '../../test/support/engine.ts';
import { startFakeService } from '../../test/support/fake-service.ts';
import { findLocalRun } from '../local/local-run.ts';
import { findTable, plantsById } from './table.ts';

vi.mock(import('../local/local-run.ts'), { spy: true });

const engine = closedAtEnd(await startEngine());

/** Uses a fake CloudFormation, whose only stack `plants` has these outputs ("DescribeStacks", API Reference). */
async function useCloudFormation(outputs: Record<string, string>): Promise<void> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const found = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const missing =
    '<ErrorResponse><Error><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>';
  const url = await startFakeService(({ body }) => {
    const exists = new URLSearchParams(body).get('StackName') === 'plants';
    return { status: exists ? 200 : 400, headers: {}, body: exists ? found : missing };
  });
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', url);
}

test('finds the table in an output of a stack', async () => {
  await useCloudFormation({ Other: 'x', PlantsTableName: 'first', AccessTokensTableName: 'second' });
  expect(await findTable('plants', 'accessTokens')).toMatchObject({ tableName: 'second' });
  const { tableName, client } = await findTable('plants', 'plants');
  expect(tableName).toBe('first');
  expect((await client.send(new ListTablesCommand())).TableNames).toContain(engine.plantsTable);
});

test.each([
  ['other', {}, 'The stack other cannot be read: It does not exist'],
  ['plants', {}, 'The stack plants has no output PlantsTableName; it must be a deployed stack'],
])('rejects the stack %s with the outputs %j', async (stack, outputs, message) => {
  await useCloudFormation(outputs);
  await expect(findTable(stack, 'plants')).rejects.toThrow(message);
});

test('without a stack, finds the table in the DynamoDB of the local run', async () => {
  const { endpoint, plantsTable } = engine;
  vi.mocked(findLocalRun).mockResolvedValueOnce({ pid: 1, endpoint, url: 'http://127.0.0.1:1' });
  const { tableName, client } = await findTable(undefined, 'plants');
  expect(tableName).toBe(plantsTable);
  expect((await client.send(new ListTablesCommand())).TableNames).toContain(plantsTable);
});

test('without a stack and a local run, says what to do', async () => {
  vi.mocked(findLocalRun).mockResolvedValueOnce(undefined);
  await expect(findTable(undefined, 'plants')).rejects.toThrow(
    'There is no local run. Start it with npm start, or name a deployed stack with --stack.',
  );
});

test('reads plants, and again those that DynamoDB returns as unprocessed', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => String(9_223_372_036_854_775_000n + BigInt(index)));
  const items = ids.filter((_, index) => index % 3 > 0).map((id) => ({ id: { N: id }, name: { S: `plant ${id}` } }));
  for (let index = 0; index < items.length; index += 25) {
    const requests = items.slice(index, index + 25).map((Item) => ({ PutRequest: { Item } }));
    await engine.client.send(new BatchWriteItemCommand({ RequestItems: { [engine.plantsTable]: requests } }));
  }
  const reads: { keys: number; consistent: boolean }[] = [];
  const endpoint = await startDynamoDbProxy(engine, async (_, { RequestItems }, send) => {
    const { Keys = [], ConsistentRead = false } = RequestItems?.[engine.plantsTable] ?? {};
    reads.push({ keys: Keys.length, consistent: ConsistentRead });
    const processed = Math.min(Keys.length, 60);
    const response = await send({
      RequestItems: { [engine.plantsTable]: { Keys: Keys.slice(0, processed), ConsistentRead } },
    });
    const UnprocessedKeys =
      processed < Keys.length ? { [engine.plantsTable]: { Keys: Keys.slice(processed) } } : undefined;
    return { ...response, body: JSON.stringify({ ...JSON.parse(response.body), UnprocessedKeys }) };
  });
  const table = { client: new DynamoDBClient({ endpoint }), tableName: engine.plantsTable };
  expect(await plantsById(table, ids)).toEqual(new Map(items.map((item) => [item.id.N, item])));
  expect(reads).toEqual([100, 40].map((keys) => ({ keys, consistent: true })));
});
