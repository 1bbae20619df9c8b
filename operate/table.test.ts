import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchWriteItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { interposedClient, staleUnlessConsistent } from '../test/support/interposed-client.ts';
import { listTokens, revokeToken } from './access-tokens.ts';
import { plantsById, type Table, withTable } from './table.ts';

/** Where the local run would have been synthesized: by default the assembly that all tests share. */
const local = vi.hoisted(() => ({ assembly: '' }));
vi.mock(import('../local/dynamodb.ts'), async (original) => ({
  ...(await original()),
  get SERVICE_ASSEMBLY() {
    return local.assembly || inject('assembly');
  },
}));
// To synthesize one takes seconds; it would be the same.
vi.mock(import('../local/synthesize.ts'), async (original) => ({
  ...(await original()),
  withOwnAssembly: (use) => use(inject('assembly')),
}));

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

/** Answers what CloudFormation tells of the stack `plants` and its outputs, and that there is no other. */
async function startCloudFormation(outputs: Record<string, string>): Promise<void> {
  const hasOutputs = Object.keys(outputs).length > 0;
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const server = createServer(async (request, response) => {
    const parameters = new URLSearchParams((await request.toArray()).join(''));
    if (parameters.get('Action') === 'DescribeStacks' && parameters.get('StackName') === 'plants') {
      response.end(
        `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${hasOutputs ? `<Outputs>${members.join('')}</Outputs>` : ''}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
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
    // Before its first deployment is finished, it has none.
    if (output === 'AccessTokensTableName') await startCloudFormation({});
    await expect(withTable('plants', output, use)).rejects.toThrow(
      `The stack plants has no output ${output}; is it a stack of this service, and was its deployment finished?`,
    );
  }
  expect(use).not.toHaveBeenCalled();
});

/** The shared assembly, its files changed as `change` does to their paths. */
function changedAssembly(change: (path: string) => void): string {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-assembly-'));
  onTestFinished(() => {
    local.assembly = '';
    rmSync(directory, { recursive: true });
  });
  cpSync(inject('assembly'), directory, { recursive: true });
  for (const file of readdirSync(directory)) change(join(directory, file));
  return directory;
}

test('without a stack and before a first start, it is the table of a template that is synthesized for it', async () => {
  local.assembly = changedAssembly((path) => path.endsWith('manifest.json') && rmSync(path));
  const use = vi.fn(async () => {});
  await withTable(undefined, 'PlantsTableName', use);
  expect(use).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ tableName: engine.plantsTable }));
});

test('a local run that was synthesized without the output is told in a sentence', async () => {
  local.assembly = changedAssembly((path) => {
    if (!path.endsWith('.template.json')) return;
    const { Outputs, ...template } = JSON.parse(readFileSync(path, 'utf8'));
    const { PlantsTableName, ...others } = Outputs;
    expect(PlantsTableName).toBeDefined();
    writeFileSync(path, JSON.stringify({ ...template, Outputs: others }));
  });
  await expect(withTable(undefined, 'PlantsTableName', async () => {})).rejects.toThrow(
    'The stack of the local run has no output PlantsTableName; is it a stack of this service,',
  );
});

test('without a stack it is the table of the local run, for as long as it is used, and no token comes back to it', async () => {
  const own: Table = { client: engine.client, tableName: engine.accessTokensTable };
  const [development] = await listTokens(own);
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
  let requestCount = 0;
  // "BatchGetItem": what exceeds 16 MB, or the table's throughput, is left to be asked again.
  const client = interposedClient(engine, async (command, input, send) => {
    const request = 'RequestItems' in input ? input.RequestItems?.[engine.plantsTable] : undefined;
    if (!request || !('Keys' in request)) throw new Error(`Nothing but plants is read, not ${command}.`);
    const { Keys = [], ...read } = request;
    expect(Keys.length).toBeGreaterThan(0);
    if (Keys.length > 100) return await send(input);
    // Whole members are absent, too, as the API reference lets them be.
    const asked = (keys: typeof Keys) => ({ [engine.plantsTable]: { ...read, Keys: keys } });
    requestCount += 1;
    if (requestCount === 1) return { $metadata: {}, UnprocessedKeys: asked(Keys) };
    const [now, later] = [Keys.slice(0, Math.ceil(Keys.length / 2)), Keys.slice(Math.ceil(Keys.length / 2))];
    const output = await staleUnlessConsistent(command, { RequestItems: asked(now) }, send);
    return { ...output, UnprocessedKeys: later.length > 0 ? asked(later) : undefined };
  });
  const found = await plantsById({ client, tableName: engine.plantsTable }, ids);
  expect(found).toEqual(new Map(items.map((item) => [item.id.N, item])));
  expect(await plantsById({ client, tableName: engine.plantsTable }, [])).toEqual(new Map());
});
