import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCESS_TOKEN_PATTERN } from '../functions/shared/access-token.ts';
import { AccessTokensTable } from '../functions/shared/access-tokens-table.ts';
import { Database } from '../functions/shared/database.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { contextWith } from '../test/support/event.ts';
import { createToken, listTokens, revokeToken } from './access-tokens.ts';
import type { Table } from './table.ts';

let engine: Engine;
let table: Table;
beforeAll(async () => {
  engine = await startEngine();
  table = { client: engine.client, tableName: engine.accessTokensTable };
});
afterAll(() => engine.close());

const NOW = Math.floor(Date.now() / 1000);
const verify = (token: string) =>
  new AccessTokensTable(new Database(), engine.accessTokensTable).verify(token, contextWith());

test('an issued token has the recognisable form and lets its holder in, until it is revoked', async () => {
  const token = await createToken(table, 'ci', NOW, NOW + 60);
  expect(token).toMatch(ACCESS_TOKEN_PATTERN);
  expect(await verify(token)).toBe('ci');
  await revokeToken(table, 'ci');
  expect(await verify(token)).toBeUndefined();
});

test('no two tokens are the same', async () => {
  const issued = await Promise.all(
    Array.from({ length: 20 }, (_, index) => createToken(table, `many-${index}`, NOW, NOW + 60)),
  );
  expect(new Set(issued).size).toBe(20);
});

test('the token itself is not stored', async () => {
  const token = await createToken(table, 'hidden', NOW, NOW + 60);
  const { Items } = await engine.client.send(new ScanCommand({ TableName: engine.accessTokensTable }));
  expect(JSON.stringify(Items)).not.toContain(token);
});

test('tokens are listed by name with their times', async () => {
  await createToken(table, 'zeta', NOW, NOW + 60);
  await createToken(table, 'alpha', NOW - 100, NOW - 50);
  const listed = await listTokens(table);
  const names = listed.map(({ name }) => name);
  expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)));
  expect(listed.find(({ name }) => name === 'alpha')).toMatchObject({ createdAt: NOW - 100, expiresAt: NOW - 50 });
});

test('a name in use, and one that nobody has, are refused with a sentence', async () => {
  await createToken(table, 'taken', NOW, NOW + 60);
  await expect(createToken(table, 'taken', NOW, NOW + 60)).rejects.toThrow(
    'The name "taken" is in use; revoke that token first, or choose another name.',
  );
  await expect(revokeToken(table, 'nobody')).rejects.toThrow('There is no token named "nobody".');
});
