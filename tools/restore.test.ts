import { BatchWriteItemCommand, CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { runCommand } from '../test/support/command.ts';
import { type Handle, startDynamoDbProxy } from '../test/support/dynamodb-proxy.ts';
import { startEngine } from '../test/support/engine.ts';
import { startFakeService } from '../test/support/fake-service.ts';
import { createTableInput } from './local/dynamodb.ts';

const engine = closedAtEnd(await startEngine());
const to = engine.plantsTable;

/** Plants by id: `name`, or `name#tag`. */
type Plants = Record<string, string>;

const plantsFrom = (first: number, count: number, name: string): Plants =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [first + index, name]));

function itemOf(id: string, plant: string) {
  const [name = '', tag] = plant.split('#');
  return { id: { N: id }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) };
}

async function storePlants(table: string, plants: Plants): Promise<void> {
  const requests = Object.entries(plants).map(([id, plant]) => ({ PutRequest: { Item: itemOf(id, plant) } }));
  while (requests.length > 0) {
    await engine.client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests.splice(-25) } }));
  }
}

/** Creates a backup with plants, and replaces those of the local run. Returns the name of the backup's table. */
async function startWith(backup: Plants, current: Plants): Promise<string> {
  const TableName = `backup-${crypto.randomUUID()}`;
  const { client } = engine;
  await client.send(new CreateTableCommand({ ...createTableInput('plants'), TableName }));
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.01 }, { TableName });
  await storePlants(TableName, backup);
  await engine.clear(to);
  await storePlants(to, current);
  return TableName;
}

/** Reads all plants of a table. */
async function readPlants(table: string): Promise<Plants> {
  const items = await engine.items(table);
  return Object.fromEntries(items.map(({ id, name, tag }) => [id?.N, [name?.S, ...(tag ? [tag.S] : [])].join('#')]));
}

/** Restores a table into that of the local run. `handle` receives every request to DynamoDB. */
async function restore(from: string, args: string[] = [], handle?: Handle) {
  const endpoint = handle ? await startDynamoDbProxy(engine, handle) : engine.endpoint;
  return runCommand('restore', ['--from', from, ...args], { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
}

const MAX_ID = '9223372036854775807';
const BACKUP = { 1: 'fern', 2: 'moss', 3: 'fern#wet', 4: 'fern#wet', 5: 'fern', '-6': 'fern#', [MAX_ID]: 'fern' };
const CURRENT = { 1: 'fern', 2: 'fern', 3: 'fern', 4: 'fern#wet', 5: 'fern#wet', 7: 'new' };

test.each<[string[], number, Plants]>([
  [[], 2, { ...BACKUP, ...CURRENT }],
  [['--overwrite'], 5, { ...CURRENT, ...BACKUP }],
  [['--dry-run', '--overwrite'], 0, CURRENT],
])('with %j, counts the plants, writes %i, and deletes none', async (args, written, expected) => {
  const from = await startWith(BACKUP, CURRENT);
  const { code, stdout, stderr } = await restore(from, args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [, examples = ''] = /^2 the same, 2 missing, 3 different, such as (.*)\.\n/.exec(stdout) ?? [];
  expect(examples.split(', ').toSorted()).toEqual(['2', '3', '5']);
  expect(stdout.split('\n').slice(1)).toEqual([`Plants written to ${to}: ${written}.`, '']);
  expect(await readPlants(to)).toEqual(expected);
  expect(await readPlants(from)).toEqual(BACKUP);
});

test('restores several pages with consistent reads, at most 100 requests at a time, and prints ten of the different plants', async () => {
  const current = { ...plantsFrom(0, 15, 'changed'), ...plantsFrom(1000, 120, 'new') };
  const from = await startWith(plantsFrom(0, 230, 'before'), current);
  let concurrent = 0;
  let maxConcurrent = 0;
  const inconsistent: string[] = [];
  const { stdout } = await restore(from, [], async (action, input, send) => {
    const read = input.RequestItems?.[to] ?? input;
    if (action !== 'PutItem' && !read.ConsistentRead) inconsistent.push(action);
    concurrent += 1;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    return await send(input).finally(() => {
      concurrent -= 1;
    });
  });
  expect(stdout).toMatch(/^0 the same, 215 missing, 15 different, such as (\d+, ){9}\d+\.\n/);
  expect(await readPlants(to)).toEqual({ ...plantsFrom(0, 230, 'before'), ...current });
  expect(maxConcurrent).toBeLessThanOrEqual(100);
  expect(inconsistent).toEqual([]);
});

test.each<[string[], number, number, Plants]>([
  [[], 1, 1, { 2: 'fern' }],
  [['--overwrite'], 2, 4, { 2: 'before' }],
])(
  'with %j, writes %i and keeps %i that are created or changed during the run',
  async (args, written, kept, plants) => {
    const from = await startWith(plantsFrom(0, 6, 'before'), { 2: 'fern', 3: 'fern', 4: 'fern', 5: 'fern#wet' });
    // 0 is new; 3 has another name, 4 a tag more, and 5 a tag less.
    const meanwhile = { 0: 'new', 3: 'moss', 4: 'fern#', 5: 'fern' };
    const { stdout } = await restore(from, args, async (action, input, send) => {
      const response = await send(input);
      if (action === 'BatchGetItem') await storePlants(to, meanwhile);
      return response;
    });
    expect(await readPlants(to)).toEqual({ 1: 'before', ...plants, ...meanwhile });
    expect(stdout.split('\n').slice(1)).toEqual([
      `Plants written to ${to}: ${written}.`,
      `Not written, because they were created or changed meanwhile: ${kept}.`,
      '',
    ]);
  },
);

test('prints why a write failed, and can be run again', async () => {
  const from = await startWith(plantsFrom(0, 9, 'before'), {});
  const body = '{"__type":"com.amazon.coral.service#AccessDeniedException","message":"Not allowed"}';
  const { code, stdout, stderr } = await restore(from, [], async (action, input, send) =>
    action === 'PutItem' && input.Item?.['id']?.N === '4' ? { status: 400, headers: {}, body } : await send(input),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(`The plants of ${from} could not all be copied: Not allowed. It is safe to run this again.\n`);
  await restore(from);
  expect((await restore(from)).stdout).toContain('9 the same, 0 missing, 0 different.\n');
});

test('with --from-region, reads the source table in that region', async () => {
  const regions: (string | undefined)[] = [];
  const endpoint = await startFakeService(({ headers }) => {
    // "Signature Version 4": Credential=KEY/DATE/REGION/SERVICE/aws4_request.
    regions.push(headers.authorization?.split('/')[2]);
    return { status: 200, headers: {}, body: '{"Items":[]}' };
  });
  const args = ['--from', 'backup', '--from-region', 'eu-central-1'];
  await runCommand('restore', args, { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
  expect(regions).toEqual(['eu-central-1']);
});

test('requires --from', async () => {
  expect((await runCommand('restore', [])).stderr).toMatch(
    /^--from is missing; it must be the name of the table to copy from\.\n\nUsage: npm run restore -- --from/,
  );
});
