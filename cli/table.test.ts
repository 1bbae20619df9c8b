import { BatchWriteItemCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withTemporaryAssembly } from '../local/synthesize.ts';
import { sharedAssembly } from '../test/support/assembly.ts';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { startCloudFormation } from '../test/support/cloudformation.ts';
import { startDynamoDbProxy } from '../test/support/dynamodb-proxy.ts';
import { startEngine } from '../test/support/engine.ts';
import { plantsById, withTable } from './table.ts';

/** The local run's assembly. */
const local = vi.hoisted(() => ({ assembly: '' }));
vi.mock(import('../local/dynamodb.ts'), async (original) => ({
  ...(await original()),
  get SERVICE_ASSEMBLY() {
    return local.assembly;
  },
}));
// Synthesizing takes seconds and would produce the same assembly.
vi.mock(import('../local/synthesize.ts'), async (original) => ({
  ...(await original()),
  withTemporaryAssembly: vi.fn(async (use) => use(await sharedAssembly())),
}));

const engine = closedAtEnd(await startEngine());

async function useCloudFormation(outputs: Record<string, string>): Promise<void> {
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', await startCloudFormation(outputs));
  onTestFinished(() => void vi.unstubAllEnvs());
}

test.each(['PlantsTableName', 'AccessTokensTableName'] as const)(
  'opens the table in the output %s of a stack',
  async (output) => {
    await useCloudFormation({
      Other: 'x',
      PlantsTableName: 'PlantsTableName',
      AccessTokensTableName: 'AccessTokensTableName',
    });
    const use = vi.fn(async ({ client }) => {
      expect((await client.send(new ListTablesCommand())).TableNames).toContain(engine.plantsTable);
    });
    await withTable('plants', output, use);
    expect(use).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ tableName: output }));
  },
);

test.each([
  ['other', {}, 'The stack other cannot be read: It does not exist'],
  ['plants', { PlantsTableName: '' }, 'The stack plants has no output PlantsTableName; it must be a deployed stack'],
  ['plants', {}, 'The stack plants has no output PlantsTableName; it must be a deployed stack'],
])('rejects the stack %s with the outputs %j', async (stack, outputs, message) => {
  await useCloudFormation(outputs);
  const use = vi.fn(async () => {});
  await expect(withTable(stack, 'PlantsTableName', use)).rejects.toThrow(message);
  expect(use).not.toHaveBeenCalled();
});

test.each([
  ['uses the last synthesized template', sharedAssembly, 0],
  ['synthesizes a template if there is none', () => '/nowhere', 1],
])('%s to open a table of the local run', async (_, assembly, synthesized) => {
  local.assembly = await assembly();
  const use = vi.fn(async () => {});
  await withTable(undefined, 'PlantsTableName', use);
  expect(use).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ tableName: engine.plantsTable }));
  expect(withTemporaryAssembly).toHaveBeenCalledTimes(synthesized);
});

test('reads more plants than one request can have, and those that DynamoDB returns as unprocessed', async () => {
  const ids = Array.from({ length: 205 }, (_, index) => String(9_223_372_036_854_775_000n + BigInt(index)));
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
  expect(reads.filter(({ keys, consistent }) => keys > 100 || !consistent)).toEqual([]);
});
