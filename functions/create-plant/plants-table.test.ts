import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../test/support/engine.ts';
import { contextWith } from '../../test/support/event.ts';
import { DynamoDb } from '../shared/dynamodb/dynamodb.ts';
import type { NewPlant } from './contract.generated.js';
import { PlantsTable } from './plants-table.ts';

let engine: Engine;
let plants: PlantsTable;
beforeAll(async () => {
  engine = await startEngine();
  plants = new PlantsTable(new DynamoDb(), engine.plantsTable);
});
afterAll(() => engine.close());

let lastId = 0n;
/** An id that no other test of this file uses. */
function freeId(): bigint {
  lastId += 1n;
  return lastId;
}

const create = (plant: NewPlant) => plants.create(plant, contextWith());
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.string({ unit: 'binary' });
const plant = fc.record({ name: text, tag: text }, { requiredKeys: ['name'] });

test('any int64 and any well-formed string come back from the table exactly', async () => {
  const used = new Set<bigint>();
  const freshId = int64.filter((id) => id < 0n || id > 1_000_000n);
  await fc.assert(
    fc.asyncProperty(freshId, plant, async (id, rest) => {
      fc.pre(!used.has(id));
      used.add(id);
      await create({ id, ...rest });
      expect(await engine.stored(id)).toEqual({ id: String(id), ...rest });
    }),
  );
});

test('creating is idempotent and never overwrites', async () => {
  await fc.assert(
    fc.asyncProperty(plant, plant, async (first, second) => {
      const id = freeId();
      await create({ id, ...first });
      await create({ id, ...first });
      const same = first.name === second.name && first.tag === second.tag;
      if (same) await create({ id, ...second });
      else await expect(create({ id, ...second })).rejects.toMatchObject({ error: 409 });
      expect(await engine.stored(id)).toEqual({ id: String(id), ...first });
    }),
  );
});

test('a plant with a tag and the same one without are different plants', async () => {
  const [tagged, untagged] = [freeId(), freeId()];
  await create({ id: tagged, name: 'fern', tag: '' });
  await expect(create({ id: tagged, name: 'fern' })).rejects.toMatchObject({
    error: 409,
    message: `The id ${tagged} is in use by a different plant; it must be a free one.`,
  });
  await create({ id: untagged, name: 'fern' });
  await expect(create({ id: untagged, name: 'fern', tag: '' })).rejects.toMatchObject({ error: 409 });
});

test('of many racers for an id one plant wins, and only its own repeats succeed', async () => {
  const id = freeId();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, (_, index) => create({ id, name: `racer ${index % 3}` })),
  );
  const winner = (await engine.stored(id))?.name;
  outcomes.forEach(({ status }, index) => {
    expect(status).toBe(`racer ${index % 3}` === winner ? 'fulfilled' : 'rejected');
  });
});

/** An item's bytes beyond its values: the names `id`, `name` and `tag`, and a one-digit id. */
const OVERHEAD = 2 + 4 + 3 + 2;

test('a plant as large as an item may be is stored', async () => {
  const id = freeId();
  const name = 'x'.repeat(400 * 1024 - OVERHEAD - 100);
  await create({ id, name, tag: 'y' });
  expect((await engine.stored(id))?.name).toHaveLength(name.length);
});

test.each([
  ['by the names of its attributes alone', 'x'.repeat(400 * 1024 - 3), undefined],
  ['by a byte', 'x'.repeat(400 * 1024), 'y'],
  ['in UTF-8 though not in UTF-16', '€'.repeat(140_000), undefined],
  ['by its tag', 'x', 'y'.repeat(20_000_000)],
  ['by megabytes', 'x'.repeat(5_000_000), 'y'.repeat(5_000_000)],
])('a plant too large %s is refused with 413', async (_, name, tag) => {
  const id = freeId();
  await expect(create({ id, name, ...(tag !== undefined && { tag }) })).rejects.toMatchObject({
    error: 413,
    message: 'The plant is too large; it must fit into an item of 400 KB.',
  });
  expect(await engine.stored(id)).toBeUndefined();
});

test('what else the database refuses is not taken for too large', async () => {
  const elsewhere = new PlantsTable(new DynamoDb(), 'no-such-table');
  await expect(elsewhere.create({ id: 1n, name: 'x' }, contextWith())).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
});
