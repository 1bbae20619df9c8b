import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { contract, contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, plantWith } from '../../test/support/event.ts';
import { DynamoDb } from '../dynamodb/client.ts';
import { Connection } from '../dynamodb/connection.ts';
import { createPlant } from './create-plant.ts';
import type { NewPlant, Plant } from './plant.generated.ts';

const engine = await startEngine();
// Large plants take long on a busy machine.
const dynamoDb = new DynamoDb(new Connection(60_000));

const create = (body: NewPlant, tokenName = 'ci') =>
  createPlant(dynamoDb, engine.plantsTable)({ body, tokenName }, contextWith());

let lastId = 0n;
/** Returns an id that no other test of this file uses. */
const freeId = () => ++lastId;

/** The plant of the sample event, and its required members. */
const PLANT = plantWith();
const { required } = contract['components'].schemas.Plant;
const SHORT_PLANT: Plant = JSON.parse(JSON.stringify(PLANT, required));

/** The plants that differ from this one in one member. An optional member can be missing. */
function othersThan(plant: Plant): Plant[] {
  const current = new Map<string, unknown>(Object.entries(plant));
  return Object.entries(PLANT).flatMap(([name, value]) => {
    const values: unknown[] = { string: ['', 'x'], number: [0, 7], boolean: [false, true] }[String(typeof value)] ?? [];
    if (!required.includes(name)) values.push(undefined);
    return values.filter((other) => other !== current.get(name)).map((other) => ({ ...plant, [name]: other }));
  });
}

test.each([PLANT, SHORT_PLANT])(
  'stores the plant %j, responds in the same way again, and rejects another with its id',
  async (plant) => {
    const id = freeId();
    for (const _ of [1, 2]) expect(contractBody(await create({ id, ...plant }))).toEqual(plant);
    for (const other of othersThan(plant)) await expect(create({ id, ...other })).rejects.toMatchObject({ error: 409 });
    expect(await engine.stored(id)).toEqual({ id: String(id), ...plant });
  },
);

test('stores who created a plant, and when, which a repetition does not change', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_999 });
  onTestFinished(() => void vi.useRealTimers());
  const id = freeId();
  await create({ id, ...PLANT }, 'first');
  vi.setSystemTime(1_900_000_000_000);
  await create({ id, ...PLANT }, 'second');
  const items = await engine.items(engine.plantsTable);
  const creation = { createdAt: { N: '1800000000' }, createdBy: { S: 'first' } };
  expect(items.find((item) => item['id']?.N === String(id))).toMatchObject(creation);
});

test.each([
  ['too large with its attribute names', 'x'.repeat(400 * 1024 - 3)],
  // dynalite counts characters instead of bytes.
  ...(inject('engine') === 'dynalite' ? [] : [['too large in UTF-8 but not in UTF-16', '€'.repeat(140_000)]]),
  ['as large as a body can be', 'x'.repeat(2_400_000)],
])('returns 413 for a plant that is %s', async (_, text) => {
  const id = freeId();
  const error = { error: 413, message: 'The plant is too large; it must have at most 399 KB.' };
  await expect(create({ id, ...plantWith(text) })).rejects.toMatchObject(error);
  expect(await engine.stored(id)).toBeUndefined();
});

test('writes with the key of the plant, and within the time of the invocation', async () => {
  const call = vi.fn(async () => undefined);
  const context = { ...contextWith(), getRemainingTimeInMillis: () => 9000 };
  await createPlant({ call }, 'Plants')({ body: { id: 7n, ...PLANT }, tokenName: 'ci' }, context);
  expect(call).toHaveBeenCalledWith('PutItem', expect.anything(), { id: { N: '7' } }, 9000 - 4000);
});
