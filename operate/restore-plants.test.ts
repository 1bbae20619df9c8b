import {
  type AttributeValue,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { type Between, interposedClient, staleUnlessConsistent } from '../test/support/interposed-client.ts';
import { ownTable } from '../test/support/own-table.ts';
import { restorePlants } from './restore-plants.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

/** What a table of plants holds: the members of each plant, by its id in digits. */
type Plants = Map<string, { name: string; tag?: string }>;

const itemOf = (id: string, { name, tag }: { name: string; tag?: string }): Record<string, AttributeValue> => ({
  id: { N: id },
  name: { S: name },
  ...(tag === undefined ? {} : { tag: { S: tag } }),
});

/** A table of plants of its own that holds these. */
async function tableOf(plants: Plants): Promise<string> {
  const TableName = await ownTable(engine, engine.plantsTable);
  const requests = [...plants].map(([id, plant]) => ({ PutRequest: { Item: itemOf(id, plant) } }));
  while (requests.length > 0) {
    const RequestItems = { [TableName]: requests.splice(-25) };
    await engine.client.send(new BatchWriteItemCommand({ RequestItems }));
  }
  return TableName;
}

async function plantsOf(tableName: string): Promise<Plants> {
  const plants: Plants = new Map();
  for await (const { Items = [] } of paginateScan({ client: engine.client }, { TableName: tableName })) {
    for (const { id, name, tag } of Items) {
      plants.set(id?.N ?? '', { name: name?.S ?? '', ...(tag?.S === undefined ? {} : { tag: tag.S }) });
    }
  }
  return plants;
}

interface Circumstances {
  dryRun?: boolean;
  overwrite?: boolean;
  onProgress?: () => void;
  /** What happens on the way to the target. */
  between?: Between;
}

async function restore(
  from: string,
  to: string,
  { dryRun = false, overwrite = false, onProgress = () => {}, between = staleUnlessConsistent }: Circumstances = {},
) {
  return await restorePlants(
    { client: interposedClient(engine, staleUnlessConsistent), tableName: from },
    { client: interposedClient(engine, between), tableName: to },
    { dryRun, overwrite, onProgress },
  );
}

/** Creates a plant as the service does: only where its id is free. Tells whether it was. */
async function create(tableName: string, id: string, name: string): Promise<boolean> {
  const Item = itemOf(id, { name });
  const put = new PutItemCommand({ TableName: tableName, Item, ConditionExpression: 'attribute_not_exists(id)' });
  return await engine.client.send(put).then(
    () => true,
    (error) => {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    },
  );
}

const plantsNamed = (name: string, first: number, count: number): Plants =>
  new Map(Array.from({ length: count }, (_, index) => [String(first + index), { name }]));

const plantsOfNames = (names: Record<string, string>): Plants =>
  new Map(Object.entries(names).map(([id, name]) => [id, { name }]));

/** Few ids, so that the tables share some; the largest one needs its every digit. */
const plants = fc
  .array(
    fc.tuple(
      fc.constantFrom('0', '1', '2', '3', '4', '-5', '9223372036854775806', '9223372036854775807'),
      fc.record(
        { name: fc.constantFrom('fern', 'moss'), tag: fc.constantFrom('wet', 'dry') },
        { requiredKeys: ['name'] },
      ),
    ),
    { maxLength: 12 },
  )
  .map((entries): Plants => new Map(entries));

test.each([
  [{ dryRun: false, overwrite: false }, 'what is missing'],
  [{ dryRun: false, overwrite: true }, 'what is missing and what differs'],
  [{ dryRun: true, overwrite: false }, 'nothing'],
  [{ dryRun: true, overwrite: true }, 'nothing'],
])('with %j a restore counts exactly, writes %s, and deletes nothing', async (options) => {
  await fc.assert(
    fc.asyncProperty(plants, plants, async (source, target) => {
      const [from, to] = await Promise.all([tableOf(source), tableOf(target)]);
      const alike = [...source].filter(([id, plant]) => isSame(plant, target.get(id)));
      const missing = [...source].filter(([id]) => !target.has(id));
      const different = [...source].filter(([id, plant]) => target.has(id) && !isSame(plant, target.get(id)));

      const { examples, ...counts } = await restore(from, to, options);
      expect(counts).toEqual({ alike: alike.length, missing: missing.length, different: different.length });
      expect(examples.toSorted()).toEqual(different.map(([id]) => id).toSorted());
      const written = options.dryRun ? [] : [...missing, ...(options.overwrite ? different : [])];
      expect(await plantsOf(to)).toEqual(new Map([...target, ...written]));
      expect(await plantsOf(from)).toEqual(source);
    }),
    {
      numRuns: 5,
      // One of each kind, whatever chance brings.
      examples: [
        [plantsOfNames({ 1: 'fern', 2: 'moss', 3: 'fern' }), plantsOfNames({ 1: 'fern', 2: 'fern', 4: 'moss' })],
      ],
    },
  );
});

test('to repeat it finds everything alike', async () => {
  const [from, to] = [await tableOf(plantsNamed('before', 0, 9)), await tableOf(plantsNamed('changed', 0, 3))];
  await restore(from, to, { overwrite: true });
  expect(await restore(from, to)).toEqual({ alike: 9, missing: 0, different: 0, examples: [] });
});

function isSame(one: { name: string; tag?: string }, other: { name: string; tag?: string } | undefined): boolean {
  return one.name === other?.name && one.tag === other.tag;
}

test('of more plants than one request takes all come back, and ten that differ are named', async () => {
  const [from, to] = [
    await tableOf(plantsNamed('before', 0, 230)),
    await tableOf(new Map([...plantsNamed('changed', 0, 15), ...plantsNamed('new', 1000, 120)])),
  ];
  const progress = { times: 0 };
  const sum = await restore(from, to, {
    onProgress: () => {
      progress.times += 1;
    },
  });
  expect(sum).toMatchObject({ alike: 0, missing: 215, different: 15 });
  expect(sum.examples).toHaveLength(10);
  expect(new Set(sum.examples).size).toBe(10);
  for (const id of sum.examples) expect(Number(id)).toBeLessThan(15);
  expect(await plantsOf(to)).toEqual(
    new Map([...plantsNamed('changed', 0, 15), ...plantsNamed('before', 15, 215), ...plantsNamed('new', 1000, 120)]),
  );
  expect(progress.times).toBeGreaterThanOrEqual(3);
});

test.each([false, true])(
  'a plant that is created between the look-up and the write stays (--overwrite %s)',
  async (overwrite) => {
    const [from, to] = [await tableOf(plantsNamed('before', 0, 120)), await tableOf(plantsNamed('changed', 0, 5))];
    await restore(from, to, {
      overwrite,
      between: async (command, input, send) => {
        const output = await send(input);
        if (command === 'BatchGetItem' && 'RequestItems' in input) {
          const asked = Object.values(input.RequestItems ?? {}).flatMap((read) =>
            'Keys' in read ? (read.Keys ?? []) : [],
          );
          const odd = asked.map(({ id }) => id?.N ?? '').filter((id) => Number(id) % 2 === 1);
          await Promise.all(odd.map((id) => create(to, id, 'meanwhile')));
        }
        return output;
      },
    });
    const expected = [...plantsNamed('before', 0, 120)].map(([id, plant]): [string, { name: string }] => {
      if (Number(id) < 5) return [id, { name: overwrite ? 'before' : 'changed' }];
      return [id, Number(id) % 2 === 1 ? { name: 'meanwhile' } : plant];
    });
    expect(await plantsOf(to)).toEqual(new Map(expected));
  },
);

test('of a restore and the service that create the same plants at the same time, whoever is first keeps each', async () => {
  const ids = [...plantsNamed('', 0, 120).keys()];
  const [from, to] = [await tableOf(plantsNamed('restored', 0, 120)), await tableOf(new Map())];
  const created = new Map<string, boolean>();
  async function createAll(): Promise<void> {
    for (const id of ids) created.set(id, await create(to, id, 'created'));
  }
  await Promise.all([createAll(), restore(from, to)]);
  const expected = [...created].map(([id, won]) => [id, { name: won ? 'created' : 'restored' }] as const);
  expect(await plantsOf(to)).toEqual(new Map(expected));
});

test('a write that fails ends it, and to begin again completes it', async () => {
  const [from, to] = [await tableOf(plantsNamed('before', 0, 9)), await tableOf(new Map())];
  const failing: Between = async (command, input, send) => {
    if (command === 'PutItem' && 'Item' in input && input.Item?.['id']?.N === '4')
      throw new Error('The table is gone.');
    return await send(input);
  };
  await expect(restore(from, to, { between: failing })).rejects.toThrow('The table is gone.');
  await restore(from, to);
  expect(await plantsOf(to)).toEqual(plantsNamed('before', 0, 9));
});

test('no more than 100 plants are written at once', async () => {
  const [from, to] = [await tableOf(plantsNamed('before', 0, 101)), await tableOf(new Map())];
  const atOnce = { now: 0, most: 0 };
  await restore(from, to, {
    between: async (_, input, send) => {
      atOnce.now += 1;
      atOnce.most = Math.max(atOnce.most, atOnce.now);
      return await send(input).finally(() => {
        atOnce.now -= 1;
      });
    },
  });
  expect(atOnce.most).toBeLessThanOrEqual(100);
});
