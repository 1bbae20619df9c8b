import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { DeleteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { LOCAL_REGION } from '../local/template.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { ownTable } from '../test/support/own-table.ts';
import { runToolHere } from '../test/support/tool.ts';

// The assembly that all tests share: to synthesize another one takes seconds.
vi.mock(import('../local/dynamodb.ts'), async (original) => ({
  ...(await original()),
  SERVICE_ASSEMBLY: inject('assembly'),
}));

let engine: Engine;
let from: string;
beforeAll(async () => {
  engine = await startEngine();
  from = await ownTable(engine, engine.plantsTable);
  await put(from, 'fern', [1, 2, 3, 4, 5, 6]);
});
afterAll(() => engine.close());
beforeEach(async () => {
  for (const name of ['fern', 'moss']) {
    for (const id of await idsOf(name)) {
      const Key = { id: { N: String(id) } };
      await engine.client.send(new DeleteItemCommand({ TableName: engine.plantsTable, Key }));
    }
  }
  await put(engine.plantsTable, 'fern', [4]);
  await put(engine.plantsTable, 'moss', [5, 6, 7]);
});

const restore = (...args: string[]) => runToolHere('restore', args);

async function put(TableName: string, name: string, ids: number[]): Promise<void> {
  for (const id of ids) {
    const Item = { id: { N: String(id) }, name: { S: name } };
    await engine.client.send(new PutItemCommand({ TableName, Item }));
  }
}

/** The ids of the plants of a name that the service has. */
async function idsOf(name: string): Promise<number[]> {
  const { Items = [] } = await engine.client.send(new ScanCommand({ TableName: engine.plantsTable }));
  const named = Items.filter((item) => item['name']?.S === name);
  return named.map(({ id }) => Number(id?.N)).toSorted((a, b) => a - b);
}

test.each<[string[], number, number[]]>([
  [[], 3, [1, 2, 3, 4]],
  [['--overwrite'], 5, [1, 2, 3, 4, 5, 6]],
  [['--dry-run'], 0, [4]],
  [['--dry-run', '--overwrite'], 0, [4]],
])('with %j it tells what it found and how many plants it wrote', async (args, written, ferns) => {
  const { code, stdout, stderr } = await restore('--from', from, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\n1 alike, 3 missing, 2 different, such as (5, 6|6, 5)\.\n/);
  expect(stdout.split('\n').slice(2)).toEqual([`Plants written to ${engine.plantsTable}: ${written}.`, '']);
  expect(await idsOf('fern')).toEqual(ferns);
});

test('where no plant differs it names none', async () => {
  await restore('--from', from, '--overwrite');
  expect((await restore('--from', from)).stdout).toMatch(/^\n6 alike, 0 missing, 0 different\.\n.*: 0\.\n$/);
});

test.each([true, false])('on the way it tells how far it is, on a terminal (%s) and nowhere else', async (isTTY) => {
  const before = process.stderr.isTTY;
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    process.stderr.isTTY = isTTY;
    await restore('--from', from);
    expect(write.mock.calls).toEqual(isTTY ? [['\r1 alike, 3 missing, 2 different']] : []);
  } finally {
    process.stderr.isTTY = before;
    write.mockRestore();
  }
});

test.each([
  [[], LOCAL_REGION],
  [['--from-region', 'eu-central-1'], 'eu-central-1'],
])('with %j the source is read in %s, and the target in its own region', async (args, region) => {
  const regions = new Map<string, string>();
  const note = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const [, action] = String(request.getHeader('x-amz-target')).split('.');
    // "Signature Version 4": Credential=KEY/DATE/REGION/SERVICE/aws4_request.
    const scope = String(request.getHeader('authorization')).split('/');
    regions.set(String(action), String(scope[2]));
  };
  // What the shell has set is neither of them.
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  subscribe('http.client.request.start', note);
  await restore('--from', from, ...args).finally(() => {
    vi.unstubAllEnvs();
    unsubscribe('http.client.request.start', note);
  });
  expect(Object.fromEntries(regions)).toMatchObject({
    Scan: region,
    BatchGetItem: LOCAL_REGION,
    PutItem: LOCAL_REGION,
  });
});

test('a source that is not there ends it with a sentence', async () => {
  const { code, stdout, stderr } = await restore('--from', 'none');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The plants of none could not be put back: .*not found.*\. To begin again is safe\.\n$/);
});

test('without a source it tells that it is missing', async () => {
  const { code, stdout, stderr } = await restore('--overwrite');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^--from is missing\.\n\nUsage: npm run restore -- --from TABLE /);
});
