import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Engine, startEngine } from '../../../test/support/engine.ts';
import { contextWith } from '../../../test/support/event.ts';
import { DynamoDb } from '../dynamodb/dynamodb.ts';
import { digestOf } from './token.ts';
import { TokensTable } from './tokens-table.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

const START = Date.UTC(2026, 0, 1);
const IN_A_DAY = START / 1000 + 86_400;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The token of a number: of the right form, and no other's. */
const token = (number: number) => `plantstore_${String(number).padStart(43, '0')}`;
const revoke = (revoked: string) =>
  engine.client.send(
    new DeleteItemCommand({ TableName: engine.accessTokensTable, Key: { digest: { S: digestOf(revoked) } } }),
  );

function newStore() {
  const dynamoDb = new DynamoDb();
  const send = vi.spyOn(dynamoDb, 'send');
  const table = new TokensTable(dynamoDb, engine.accessTokensTable);
  return { verify: (verified: string) => table.verify(verified, contextWith()), send };
}

test('a valid token is known by its name', async () => {
  await engine.putToken(token(1), 'ci', IN_A_DAY);
  const { verify, send } = newStore();
  expect(await verify(token(1))).toBe('ci');
  // An older replica may still hold what was revoked.
  expect(send.mock.lastCall?.[1]).toMatchObject({ ConsistentRead: true });
});

test('an unknown token has no name', async () => {
  expect(await newStore().verify(token(2))).toBeUndefined();
});

test('a token is refused from the second of its expiry on, though its item is still there', async () => {
  await engine.putToken(token(3), 'short', START / 1000 + 10);
  const { verify } = newStore();
  vi.setSystemTime(START + 9_999);
  expect(await verify(token(3))).toBe('short');
  vi.setSystemTime(START + 10_000);
  expect(await verify(token(3))).toBeUndefined();
});

test('an item without an expiry lets nobody in', async () => {
  await engine.putToken(token(4), 'broken', Number.MIN_SAFE_INTEGER);
  expect(await newStore().verify(token(4))).toBeUndefined();
});

test.each([
  ['name', { expiresAt: { N: String(IN_A_DAY) } }],
  ['expiry', { name: { S: 'broken' } }],
])('an item without its %s lets nobody in and is not remembered', async (_, attributes) => {
  const Item = { digest: { S: digestOf(token(8)) }, ...attributes };
  await engine.client.send(new PutItemCommand({ TableName: engine.accessTokensTable, Item }));
  const { verify, send } = newStore();
  const reads = send.mock.calls.length;
  expect(await verify(token(8))).toBeUndefined();
  expect(await verify(token(8))).toBeUndefined();
  expect(send.mock.calls.length).toBe(reads + 2);
});

test('a verified token costs no second read for 60 s, and no longer', async () => {
  await engine.putToken(token(5), 'busy', IN_A_DAY);
  const { verify, send } = newStore();
  await verify(token(5));
  const reads = send.mock.calls.length;
  vi.setSystemTime(START + 59_999);
  expect(await verify(token(5))).toBe('busy');
  expect(send.mock.calls.length).toBe(reads);
  vi.setSystemTime(START + 60_000);
  expect(await verify(token(5))).toBe('busy');
  expect(send.mock.calls.length).toBe(reads + 1);
});

test('a revoked token is refused after 60 s at the latest', async () => {
  await engine.putToken(token(6), 'leaked', IN_A_DAY);
  const { verify } = newStore();
  expect(await verify(token(6))).toBe('leaked');
  await revoke(token(6));
  vi.setSystemTime(START + 60_000);
  expect(await verify(token(6))).toBeUndefined();
});

test('unknown tokens are not remembered, so that a new one works at once', async () => {
  const { verify } = newStore();
  expect(await verify(token(7))).toBeUndefined();
  await engine.putToken(token(7), 'new', IN_A_DAY);
  expect(await verify(token(7))).toBe('new');
});

test('no more than 1000 tokens are remembered, those verified last', async () => {
  const numbers = Array.from({ length: 1001 }, (_, index) => 1000 + index);
  for (const number of numbers) await engine.putToken(token(number), `token ${number}`, IN_A_DAY);
  const { verify, send } = newStore();
  await verify(token(1000));
  vi.setSystemTime(START + 30_000);
  await verify(token(1001));
  // Verified anew, the oldest becomes the newest.
  vi.setSystemTime(START + 60_000);
  for (const number of numbers) await verify(token(number));
  const reads = send.mock.calls.length;
  for (const number of [1000, 1002, 2000]) await verify(token(number));
  expect(send.mock.calls.length).toBe(reads);
  await verify(token(1001));
  expect(send.mock.calls.length).toBe(reads + 1);
});

test('priming reads once, lets nobody in and never fails', async () => {
  const dynamoDb = new DynamoDb();
  const send = vi.spyOn(dynamoDb, 'send');
  const before = send.mock.calls.length;
  await new TokensTable(dynamoDb, engine.accessTokensTable).warmUp();
  expect(send.mock.settledResults.slice(before)).toMatchObject([{ type: 'fulfilled' }]);
  await expect(new TokensTable(dynamoDb, 'no-such-table').warmUp()).resolves.toBeUndefined();
});
