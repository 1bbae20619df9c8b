import { beforeEach, expect, test, vi } from 'vitest';
import { startEngine } from '../../test/support/engine.ts';
import { DynamoDb, type StoredItem } from '../dynamodb/client.ts';
import { OpaqueTokenVerifier } from './opaque-token-verifier.ts';
import { digestOf } from './token.ts';

const engine = await startEngine();

const START = Date.UTC(2026, 0, 1);
const IN_A_DAY = START / 1000 + 86_400;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: START });
  return () => vi.useRealTimers();
});

/** A well-formed token, different for each number. */
const token = (number: number) => `plantstore_${String(number).padStart(43, '0')}`;

/** The error for a token that is not valid. */
const REJECTED = {
  error: 401,
  message: 'The access token is unknown, expired or revoked.',
  headers: { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
};

const dynamoDb = new DynamoDb();

/** A verifier with an empty cache, and the calls that it makes. */
function newVerifier(database: DynamoDb['call'] = (...input) => dynamoDb.call(...input)) {
  const call = vi.fn(database);
  const verifier = new OpaqueTokenVerifier({ call }, engine.accessTokensTable);
  return { call, verify: (number: number) => verifier.verify(token(number), 60_000) };
}

test('rejects a token from its expiry on, even if it expires during the read or its item still exists', async () => {
  await engine.putToken(token(3), 'short', START / 1000 + 10);
  const { verify } = newVerifier();
  vi.setSystemTime(START + 9_999);
  expect(await verify(3)).toBe('short');
  const read = newVerifier().verify(3);
  vi.setSystemTime(START + 10_000);
  await expect(read).rejects.toMatchObject(REJECTED);
  await expect(verify(3)).rejects.toMatchObject(REJECTED);
});

const NAME = { name: { S: 'ci' } };
const EXPIRY = { expiresAt: { N: String(IN_A_DAY) } };
test.each<[string, StoredItem]>([
  ['an item without a name', EXPIRY],
  ['an item without an expiry', NAME],
  ['an item whose expiry is no number', { ...NAME, expiresAt: { N: 'never' } }],
])('rejects a token if the database returns %s, and does not cache it', async (_, item) => {
  const { call, verify } = newVerifier(async () => item);
  for (const _ of [1, 2]) await expect(verify(4)).rejects.toMatchObject(REJECTED);
  expect(call).toHaveBeenCalledTimes(2);
});

test('caches a valid token until 60 s after the start of the read, and then rejects it if it is revoked', async () => {
  await engine.putToken(token(5), 'busy', IN_A_DAY);
  const { call, verify } = newVerifier();
  const read = verify(5);
  // The token can be revoked during the read.
  vi.setSystemTime(START + 1000);
  await read;
  const input = expect.objectContaining({ ConsistentRead: true });
  expect(call).toHaveBeenCalledWith('GetItem', input, { digest: { S: digestOf(token(5)) } }, 60_000);
  await engine.clear(engine.accessTokensTable);
  vi.setSystemTime(START + 59_999);
  expect(await verify(5)).toBe('busy');
  vi.setSystemTime(START + 60_000);
  await expect(verify(5)).rejects.toMatchObject(REJECTED);
});

test('caches a valid token for 60 s, even if the system clock is set back', async () => {
  await engine.putToken(token(6), 'busy', IN_A_DAY);
  const { call, verify } = newVerifier();
  await verify(6);
  vi.advanceTimersByTime(30_000);
  vi.setSystemTime(START);
  vi.advanceTimersByTime(29_999);
  await verify(6);
  expect(call).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(1);
  await verify(6);
  expect(call).toHaveBeenCalledTimes(2);
});

test('caches the 1,000 tokens that were read last', async () => {
  const numbers = Array.from({ length: 1001 }, (_, index) => 1000 + index);
  const { call, verify } = newVerifier(async () => ({ ...NAME, ...EXPIRY }));
  await verify(1000);
  vi.setSystemTime(START + 30_000);
  await verify(1001);
  // Token 1000 has expired from the cache; reading it again makes it the newest.
  vi.setSystemTime(START + 60_000);
  for (const number of numbers) await verify(number);
  call.mockClear();
  for (const number of [1000, 1002, 2000]) await verify(number);
  expect(call).not.toHaveBeenCalled();
  await verify(1001);
  expect(call).toHaveBeenCalledOnce();
});
