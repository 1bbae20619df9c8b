import { CreateTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { restorePlants } from './restore-plants.ts';

let engine: Engine;
let restored: string;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());
beforeEach(async () => {
  restored = `restored-${crypto.randomUUID()}`;
  await engine.client.send(
    new CreateTableCommand({
      TableName: restored,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
});

async function put(TableName: string, id: bigint, name: string): Promise<void> {
  await engine.client.send(new PutItemCommand({ TableName, Item: { id: { N: String(id) }, name: { S: name } } }));
}

const restore = (options: { dryRun?: boolean; overwrite?: boolean } = {}) =>
  restorePlants(
    { client: engine.client, tableName: restored },
    { client: engine.client, tableName: engine.plantsTable },
    { dryRun: false, overwrite: false, onProgress: () => {}, ...options },
  );

test('missing plants are put back exactly, and the rest stays as it is', async () => {
  const max = 9223372036854775807n;
  for (const id of [max, 1n, 2n]) await put(restored, id, 'before');
  await put(engine.plantsTable, 1n, 'before');
  await put(engine.plantsTable, 2n, 'changed');
  await put(engine.plantsTable, 3n, 'new');
  expect(await restore()).toEqual({ alike: 1, missing: 1, different: 1, examples: ['2'] });
  expect(await engine.stored(max)).toEqual({ id: String(max), name: 'before' });
  expect(await engine.stored(2n)).toEqual({ id: '2', name: 'changed' });
  expect(await engine.stored(3n)).toEqual({ id: '3', name: 'new' });
});

test('to repeat it finds everything alike', async () => {
  await put(restored, 11n, 'x');
  await restore();
  expect(await restore()).toMatchObject({ alike: 1, missing: 0, different: 0 });
});

test('a dry run counts, and writes nothing', async () => {
  await put(restored, 21n, 'x');
  await put(restored, 22n, 'before');
  await put(engine.plantsTable, 22n, 'changed');
  expect(await restore({ dryRun: true, overwrite: true })).toMatchObject({ missing: 1, different: 1 });
  expect(await engine.stored(21n)).toBeUndefined();
  expect(await engine.stored(22n)).toMatchObject({ name: 'changed' });
});

test('only when asked to, it writes what differs', async () => {
  await put(restored, 31n, 'before');
  await put(engine.plantsTable, 31n, 'changed');
  await restore({ overwrite: true });
  expect(await engine.stored(31n)).toMatchObject({ name: 'before' });
});

test('more plants than one page holds all come back', async () => {
  const ids = Array.from({ length: 250 }, (_, index) => 1000n + BigInt(index));
  await Promise.all(ids.map((id) => put(restored, id, 'x')));
  expect(await restore()).toMatchObject({ missing: 250 });
  for (const id of ids) expect(await engine.stored(id)).toMatchObject({ name: 'x' });
});
