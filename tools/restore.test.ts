import { BatchWriteItemCommand, CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { startCloudFormation } from '../test/support/cloudformation.ts';
import { runCommand } from '../test/support/command.ts';
import { type Handle, startDynamoDbProxy } from '../test/support/dynamodb-proxy.ts';
import { startEngine } from '../test/support/engine.ts';
import { startFakeService } from '../test/support/fake-service.ts';
import { TABLE_PROPERTIES, TABLES } from '../test/support/tables.ts';

const engine = closedAtEnd(await startEngine());

/** Plants by id: `name`, or `name#tag`. */
type Plants = Record<string, string>;

const plantsFrom = (first: number, count: number, name: string): Plants =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [first + index, name]));

function itemOf(id: string, plant: string) {
  const [name = '', tag] = plant.split('#');
  return { id: { N: id }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) };
}

/** Creates a table with these plants. Returns its name. */
async function createTable(plants: Plants): Promise<string> {
  const { client } = engine;
  const table = `restore-${crypto.randomUUID()}`;
  await client.send(new CreateTableCommand({ TableName: table, ...TABLE_PROPERTIES[TABLES.plants] }));
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.01 }, { TableName: table });
  const requests = Object.entries(plants).map(([id, plant]) => ({ PutRequest: { Item: itemOf(id, plant) } }));
  while (requests.length > 0) {
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests.splice(-25) } }));
  }
  return table;
}

/** Reads all plants of a table. */
async function readPlants(table: string): Promise<Plants> {
  const items = await engine.items(table);
  return Object.fromEntries(items.map(({ id, name, tag }) => [id?.N, [name?.S, ...(tag ? [tag.S] : [])].join('#')]));
}

/** Restores the table `from` into the table `to` of a stack. `handle` receives every request to DynamoDB. */
async function restore(from: string, to: string, args: string[] = [], handle?: Handle) {
  const variables = {
    AWS_ENDPOINT_URL_CLOUDFORMATION: await startCloudFormation({ PlantsTableName: to }),
    AWS_ENDPOINT_URL_DYNAMODB: handle ? await startDynamoDbProxy(engine, handle) : engine.endpoint,
  };
  return runCommand('restore', ['--from', from, '--stack', 'plants', ...args], variables);
}

const MAX_ID = '9223372036854775807';
const BACKUP = { 1: 'fern', 2: 'moss', 3: 'fern#wet', 4: 'fern#wet', 5: 'fern', '-6': 'fern#', [MAX_ID]: 'fern' };
const CURRENT = { 1: 'fern', 2: 'fern', 3: 'fern', 4: 'fern#wet', 5: 'fern#wet', 7: 'new' };

test.each<[string[], number, Plants]>([
  [[], 2, { ...BACKUP, ...CURRENT }],
  [['--overwrite'], 5, { ...CURRENT, ...BACKUP }],
  [['--dry-run'], 0, CURRENT],
  [['--dry-run', '--overwrite'], 0, CURRENT],
])('with %j, counts the plants, writes %i, and deletes none', async (args, written, expected) => {
  const [from, to] = [await createTable(BACKUP), await createTable(CURRENT)];
  const { code, stdout, stderr } = await restore(from, to, args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [, examples = ''] = /^2 the same, 2 missing, 3 different, such as (.*)\.\n/.exec(stdout) ?? [];
  expect(examples.split(', ').toSorted()).toEqual(['2', '3', '5']);
  expect(stdout.split('\n').slice(1)).toEqual([`Plants written to ${to}: ${written}.`, '']);
  expect(await readPlants(to)).toEqual(expected);
  expect(await readPlants(from)).toEqual(BACKUP);
});

test('restores several pages, with at most 100 requests at a time, and prints ten of the different plants', async () => {
  const from = await createTable(plantsFrom(0, 230, 'before'));
  const to = await createTable({ ...plantsFrom(0, 15, 'changed'), ...plantsFrom(1000, 120, 'new') });
  let concurrent = 0;
  let maxConcurrent = 0;
  const inconsistent: string[] = [];
  const { stdout } = await restore(from, to, [], async (action, input, send) => {
    const read = input.RequestItems?.[to] ?? input;
    if (action !== 'PutItem' && !read.ConsistentRead) inconsistent.push(action);
    concurrent += 1;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    return await send(input).finally(() => {
      concurrent -= 1;
    });
  });
  expect(stdout).toMatch(/^0 the same, 215 missing, 15 different, such as (\d+, ){9}\d+\.\n/);
  expect(await readPlants(to)).toEqual({
    ...plantsFrom(0, 230, 'before'),
    ...plantsFrom(0, 15, 'changed'),
    ...plantsFrom(1000, 120, 'new'),
  });
  expect(maxConcurrent).toBeLessThanOrEqual(100);
  expect(inconsistent).toEqual([]);
});

test.each([[[]], [['--overwrite']]])('with %j, keeps plants that are created during the run', async (args) => {
  const [from, to] = [await createTable(plantsFrom(0, 9, 'before')), await createTable({})];
  const { stdout } = await restore(from, to, args, async (action, input, send) => {
    const response = await send(input);
    const newIds = action === 'BatchGetItem' ? ['3', '5'] : [];
    for (const id of newIds) await engine.put(to, itemOf(id, 'meanwhile'));
    return response;
  });
  expect(await readPlants(to)).toEqual({ ...plantsFrom(0, 9, 'before'), 3: 'meanwhile', 5: 'meanwhile' });
  expect(stdout).toContain(`Plants written to ${to}: 7.`);
});

test('prints why a write failed, and can be run again', async () => {
  const [from, to] = [await createTable(plantsFrom(0, 9, 'before')), await createTable({})];
  const body = '{"__type":"com.amazon.coral.service#AccessDeniedException","message":"Not allowed"}';
  const { code, stdout, stderr } = await restore(from, to, [], async (action, input, send) =>
    action === 'PutItem' && input.Item?.['id']?.N === '4' ? { status: 400, headers: {}, body } : await send(input),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(`The plants of ${from} could not all be copied: Not allowed. It is safe to run this again.\n`);
  await restore(from, to);
  expect((await restore(from, to)).stdout).toContain('9 the same, 0 missing, 0 different.\n');
});

test.each([true, false])('prints its progress only on a terminal (%s)', async (isTTY) => {
  const [from, to] = [await createTable(BACKUP), await createTable(CURRENT)];
  const before = process.stderr.isTTY;
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    process.stderr.isTTY = before;
    write.mockRestore();
  });
  process.stderr.isTTY = isTTY;
  await restore(from, to);
  expect(write.mock.calls).toEqual(isTTY ? [['\r2 the same, 2 missing, 3 different'], ['\n']] : []);
});

test.each([
  [[], 'sa-east-1'],
  [['--from-region', 'eu-central-1'], 'eu-central-1'],
])('with %j, reads the source table in %s', async (args, region) => {
  const regions: (string | undefined)[] = [];
  const variables = {
    AWS_REGION: 'sa-east-1',
    AWS_ENDPOINT_URL_CLOUDFORMATION: await startCloudFormation({ PlantsTableName: 'plants' }),
    AWS_ENDPOINT_URL_DYNAMODB: await startFakeService(({ headers }) => {
      // "Signature Version 4": Credential=KEY/DATE/REGION/SERVICE/aws4_request.
      regions.push(headers.authorization?.split('/')[2]);
      return { status: 200, headers: {}, body: '{"Items":[]}' };
    }),
  };
  await runCommand('restore', ['--from', 'backup', '--stack', 'plants', ...args], variables);
  expect(regions).toEqual([region]);
});

test('fails if the source table does not exist or is not given', async () => {
  const to = await createTable({});
  const { code, stderr } = await restore('none', to);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^The plants of none could not all be copied: .*not found.*\. It is safe to run this again\.\n$/,
  );
  expect((await runCommand('restore', [])).stderr).toMatch(
    /^--from is missing; it must be the name of the table to copy from\.\n\nUsage: npm run restore -- --from/,
  );
});
