import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCESS_TOKEN_PATTERN } from '../functions/shared/access-token.ts';
import { AccessTokenStore } from '../functions/shared/access-token-store.ts';
import { Database } from '../functions/shared/database.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { contextWith } from '../test/support/event.ts';
import { AccessTokens } from './access-tokens.ts';

let engine: Engine;
let accessTokens: AccessTokens;
beforeAll(async () => {
  engine = await startEngine();
  accessTokens = new AccessTokens(engine.client, engine.accessTokensTable);
});
afterAll(() => engine.close());

const NOW = Math.floor(Date.now() / 1000);
const verify = (token: string) =>
  new AccessTokenStore(new Database(), engine.accessTokensTable).verify(token, contextWith());

test('an issued token has the recognisable form and lets its holder in, until it is revoked', async () => {
  const token = await accessTokens.create('ci', NOW, NOW + 60);
  expect(token).toMatch(ACCESS_TOKEN_PATTERN);
  expect(await verify(token)).toBe('ci');
  await accessTokens.revoke('ci');
  expect(await verify(token)).toBeUndefined();
});

test('no two tokens are the same', async () => {
  const issued = await Promise.all(
    Array.from({ length: 20 }, (_, index) => accessTokens.create(`many-${index}`, NOW, NOW + 60)),
  );
  expect(new Set(issued).size).toBe(20);
});

test('the token itself is not stored', async () => {
  const token = await accessTokens.create('hidden', NOW, NOW + 60);
  const { Items } = await engine.client.send(new ScanCommand({ TableName: engine.accessTokensTable }));
  expect(JSON.stringify(Items)).not.toContain(token);
});

test('tokens are listed by name with their times', async () => {
  await accessTokens.create('zeta', NOW, NOW + 60);
  await accessTokens.create('alpha', NOW - 100, NOW - 50);
  const listed = await accessTokens.list();
  const names = listed.map(({ name }) => name);
  expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)));
  expect(listed.find(({ name }) => name === 'alpha')).toMatchObject({ createdAt: NOW - 100, expiresAt: NOW - 50 });
});

test('a name in use, and one that nobody has, are refused with a sentence', async () => {
  await accessTokens.create('taken', NOW, NOW + 60);
  await expect(accessTokens.create('taken', NOW, NOW + 60)).rejects.toThrow(
    'The name "taken" is in use; revoke that token first, or choose another name.',
  );
  await expect(accessTokens.revoke('nobody')).rejects.toThrow('There is no token named "nobody".');
});
