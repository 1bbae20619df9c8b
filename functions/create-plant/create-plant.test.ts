import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, plantWith } from '../../test/support/event.ts';
import { DynamoDb } from '../dynamodb/client.ts';
import { Connection } from '../dynamodb/connection.ts';
import { createPlant } from './create-plant.ts';
import type { NewPlant } from './plant.generated.ts';

const engine = await startEngine();
// Large plants take long on a busy machine.
const dynamoDb = new DynamoDb(new Connection(60_000));

const create = (body: NewPlant, tokenName = 'ci') =>
  createPlant(dynamoDb, engine.plantsTable)({ body, tokenName }, contextWith());

let lastId = 0n;
/** Returns an id that no other test of this file uses. */
const freeId = () => ++lastId;

const ALOE = plantWith({ name: 'Aloe', tag: 'succulent' });
const { tag: _, ...UNTAGGED } = ALOE;
const UNTAGGED_FERN = { ...UNTAGGED, name: 'Fern' };

test.each([
  [ALOE, [{ ...ALOE, name: 'Fern' }, { ...ALOE, tag: 'x' }, UNTAGGED]],
  [UNTAGGED, [UNTAGGED_FERN, { ...UNTAGGED, tag: '' }]],
])('stores the plant %j, responds in the same way again, and rejects another with its id', async (plant, others) => {
  const id = freeId();
  for (const _ of [1, 2]) expect(contractBody(await create({ id, ...plant }))).toEqual(plant);
  for (const other of others) await expect(create({ id, ...other })).rejects.toMatchObject({ error: 409 });
  expect(await engine.stored(id)).toEqual({ id: String(id), ...plant });
});

test('stores who created a plant, and when, which a repetition does not change', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_999 });
  onTestFinished(() => void vi.useRealTimers());
  const id = freeId();
  await create({ id, ...ALOE }, 'first');
  vi.setSystemTime(1_900_000_000_000);
  await create({ id, ...ALOE }, 'second');
  const items = await engine.items(engine.plantsTable);
  const creation = { createdAt: { N: '1800000000' }, createdBy: { S: 'first' } };
  expect(items.find((item) => item['id']?.N === String(id))).toMatchObject(creation);
});

test.each([
  ['too large with its attribute names', 'x'.repeat(400 * 1024 - 3), ''],
  // dynalite counts characters instead of bytes.
  ...(inject('engine') === 'dynalite' ? [] : [['too large in UTF-8 but not in UTF-16', '€'.repeat(140_000), '']]),
  ['as large as a body can be', 'x'.repeat(1_200_000), 'y'.repeat(1_200_000)],
])('returns 413 for a plant that is %s', async (_, name, tag) => {
  const id = freeId();
  const error = { error: 413, message: 'The plant is too large; it must have at most 399 KB.' };
  await expect(create({ id, ...plantWith({ name, tag }) })).rejects.toMatchObject(error);
  expect(await engine.stored(id)).toBeUndefined();
});

test('writes with the key of the plant, and within the time of the invocation', async () => {
  const call = vi.fn(async () => undefined);
  const context = { ...contextWith(), getRemainingTimeInMillis: () => 9000 };
  await createPlant({ call }, 'Plants')({ body: { id: 7n, ...ALOE }, tokenName: 'ci' }, context);
  expect(call).toHaveBeenCalledWith('PutItem', expect.anything(), { id: { N: '7' } }, 9000 - 4000);
});
