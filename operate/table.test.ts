import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BatchWriteItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { interposedClient, staleUnlessConsistent } from '../test/support/interposed-client.ts';
import { listTokens } from './access-tokens.ts';
import { plantsById, type Table, withTable } from './table.ts';

// The assembly that all tests share: to synthesize another one takes seconds.
vi.mock(import('../local/dynamodb.ts'), async (original) => ({
  ...(await original()),
  SERVICE_ASSEMBLY: inject('assembly'),
}));

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

/** Answers what CloudFormation tells of the stack `plants` and its outputs, and that there is no other. */
async function startCloudFormation(outputs: Record<string, string>): Promise<void> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const server = createServer(async (request, response) => {
    const parameters = new URLSearchParams((await request.toArray()).join(''));
    if (parameters.get('Action') === 'DescribeStacks' && parameters.get('StackName') === 'plants') {
      response.end(
        `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
      );
    } else {
      response.statusCode = 400;
      response.end(
        '<ErrorResponse><Error><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>',
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', `http://127.0.0.1:${port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
}

test.each(['PlantsTableName', 'AccessTokensTableName'] as const)(
  'the output %s names the table of a stack',
  async (output) => {
    await startCloudFormation({ Other: 'x', PlantsTableName: 'a', AccessTokensTableName: 'b' });
    const used: string[] = [];
    await withTable('plants', output, async ({ client, tableName }) => {
      used.push(tableName);
      expect((await client.send(new ListTablesCommand())).TableNames).toContain(engine.plantsTable);
    });
    expect(used).toEqual([output === 'PlantsTableName' ? 'a' : 'b']);
  },
);

test('a stack that cannot be read, and one without the output, are told in a sentence, and nothing is done', async () => {
  const use = vi.fn(async () => {});
  await startCloudFormation({ PlantsTableName: '' });
  await expect(withTable('other', 'PlantsTableName', use)).rejects.toThrow(
    /^The stack other cannot be read: It does not exist$/,
  );
  for (const output of ['PlantsTableName', 'AccessTokensTableName'] as const) {
    await expect(withTable('plants', output, use)).rejects.toThrow(
      `The stack plants has no output ${output}; is it a stack of this service, and was its deployment finished?`,
    );
  }
  expect(use).not.toHaveBeenCalled();
});

test('without a stack it is the table of the local run, for as long as it is used, and no token comes back to it', async () => {
  const own: Table = { client: engine.client, tableName: engine.accessTokensTable };
  const [development] = await listTokens(own);
  const { revokeToken } = await import('./access-tokens.ts');
  await revokeToken(own, development?.name ?? '');
  const opened: Table[] = [];
  await withTable(undefined, 'AccessTokensTableName', async (table) => {
    opened.push(table);
    expect(await listTokens(table)).toEqual([]);
  });
  expect(opened.map(({ tableName }) => tableName)).toEqual([engine.accessTokensTable]);
  await expect(withTable(undefined, 'PlantsTableName', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('of more plants than one request takes each that there is comes back, whatever DynamoDB leaves unprocessed', async () => {
  const ids = Array.from({ length: 205 }, (_, index) => String(9_223_372_036_854_775_000n + BigInt(index)));
  const there = ids.filter((_, index) => index % 3 > 0);
  const items = there.map((id) => ({ id: { N: id }, name: { S: `plant ${id}` } }));
  const requests = items.map((Item) => ({ PutRequest: { Item } }));
  while (requests.length > 0) {
    const RequestItems = { [engine.plantsTable]: requests.splice(-25) };
    await engine.client.send(new BatchWriteItemCommand({ RequestItems }));
  }
  // "BatchGetItem": what exceeds 16 MB, or the table's throughput, is left to be asked again.
  const client = interposedClient(engine, async (command, input, send) => {
    const request = 'RequestItems' in input ? input.RequestItems?.[engine.plantsTable] : undefined;
    if (!request || !('Keys' in request)) throw new Error(`Nothing but plants is read, not ${command}.`);
    const { Keys = [], ...read } = request;
    expect(Keys.length).toBeGreaterThan(0);
    if (Keys.length > 100) return await send(input);
    const processed = Math.ceil(Keys.length / 2);
    const asked = (keys: typeof Keys) => ({ RequestItems: { [engine.plantsTable]: { ...read, Keys: keys } } });
    const output = await staleUnlessConsistent(command, asked(Keys.slice(0, processed)), send);
    const left = Keys.slice(processed);
    return left.length > 0 ? { ...output, UnprocessedKeys: asked(left).RequestItems } : output;
  });
  const found = await plantsById({ client, tableName: engine.plantsTable }, ids);
  expect(found).toEqual(new Map(items.map((item) => [item.id.N, item])));
  expect(await plantsById({ client, tableName: engine.plantsTable }, [])).toEqual(new Map());
});
