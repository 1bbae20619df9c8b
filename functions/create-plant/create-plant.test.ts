import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../test/support/engine.ts';
import { contextWith } from '../../test/support/event.ts';
import { DynamoDb } from '../shared/dynamodb/dynamodb.ts';
import type { NewPlant } from './contract.generated.js';
import { createPlant } from './create-plant.ts';

let engine: Engine;
let dynamoDb: DynamoDb;
beforeAll(async () => {
  engine = await startEngine();
  dynamoDb = new DynamoDb();
});
afterAll(() => engine.close());

const create = (body: NewPlant, table = engine.plantsTable) => createPlant(dynamoDb, table)({ body }, contextWith());

let lastId = 0n;
/** An id that no other test of this file uses. */
function freeId(): bigint {
  lastId += 1n;
  return lastId;
}

test('creating is idempotent and never overwrites', async () => {
  const text = fc.string({ unit: 'binary' });
  const plant = fc.record({ name: text, tag: text }, { requiredKeys: ['name'] });
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

test('stores one of many concurrent plants with the same id, and rejects the others', async () => {
  const id = freeId();
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, (_, index) => create({ id, name: `racer ${index % 3}` })),
  );
  const winner = (await engine.stored(id))?.name;
  results.forEach(({ status }, index) => {
    expect(status).toBe(`racer ${index % 3}` === winner ? 'fulfilled' : 'rejected');
  });
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.error] : []));
  expect(errors).toEqual(Array(40).fill(409));
});

test('a plant as large as an item may be is stored', async () => {
  const id = freeId();
  // An item has some bytes beyond its values: the names of the attributes, and the id.
  const name = 'x'.repeat(400 * 1024 - 111);
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

test('any other error of the database is not taken for too large', async () => {
  const name = 'ResourceNotFoundException';
  await expect(create({ id: 1n, name: 'x' }, 'no-such-table')).rejects.toMatchObject({ name });
});
