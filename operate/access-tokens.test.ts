import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCESS_TOKEN_PATTERN, ACCESS_TOKEN_PREFIX, digestOf } from '../functions/shared/access-tokens/token.ts';
import { TokensTable } from '../functions/shared/access-tokens/tokens-table.ts';
import { DynamoDb } from '../functions/shared/dynamodb/dynamodb.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { contextWith } from '../test/support/event.ts';
import { interposedClient, staleUnlessConsistent } from '../test/support/interposed-client.ts';
import { ownTable } from '../test/support/own-table.ts';
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
  new TokensTable(new DynamoDb(), engine.accessTokensTable).verify(token, contextWith());

/** An empty table of access tokens that no other test writes to. */
async function emptyTable(): Promise<Table> {
  return { client: engine.client, tableName: await ownTable(engine, engine.accessTokensTable) };
}

test('an issued token has the recognisable form and lets its holder in, until it is revoked', async () => {
  const token = await createToken(table, 'ci', NOW, NOW + 60);
  expect(token).toMatch(ACCESS_TOKEN_PATTERN);
  expect(await verify(token)).toBe('ci');
  await revokeToken(table, 'ci');
  expect(await verify(token)).toBeUndefined();
});

test('what is listed is what was issued, by name, over all pages, and the tokens themselves are not stored', async () => {
  const own = await emptyTable();
  const names = ['zeta', 'alpha', 'Beta', 'a.b', 'a-b', '_', '0'];
  const issued = [];
  for (const [index, name] of names.entries()) {
    const [createdAt, expiresAt] = [NOW - index, NOW + 1000 * index];
    const token = await createToken(own, name, createdAt, expiresAt);
    issued.push({ token, item: { digest: digestOf(token), name, createdAt, expiresAt } });
  }
  const twoAPage = interposedClient(engine, (command, input, send) =>
    staleUnlessConsistent(command, { ...input, Limit: 2 }, send),
  );
  const expected = issued.map(({ item }) => item).toSorted((a, b) => a.name.localeCompare(b.name));
  expect(await listTokens({ ...own, client: twoAPage })).toEqual(expected);

  const stored = JSON.stringify(await engine.client.send(new ScanCommand({ TableName: own.tableName })));
  for (const { token } of issued) expect(stored).not.toContain(token.slice(ACCESS_TOKEN_PREFIX.length));
});

test('to revoke a name takes away all of its tokens, such as two that were issued at once, and no other', async () => {
  const own = await emptyTable();
  for (const name of ['cj', 'ci-2', 'ci', 'CI', 'c']) await createToken(own, name, NOW, NOW + 60);
  const empty = interposedClient(engine, async (command, input, send) =>
    command === 'Scan' ? { $metadata: {} } : send(input),
  );
  expect(await listTokens({ ...own, client: empty })).toEqual([]);
  await createToken({ ...own, client: empty }, 'ci', NOW, NOW + 60);
  const before = await listTokens(own);
  expect(before.filter(({ name }) => name === 'ci')).toHaveLength(2);
  await revokeToken(own, 'ci');
  expect(await listTokens(own)).toEqual(before.filter(({ name }) => name !== 'ci'));
});

test('a name in use, and one that nobody has, are refused with a sentence and change nothing', async () => {
  const own = await emptyTable();
  await createToken(own, 'taken', NOW, NOW + 60);
  const before = await listTokens(own);
  await expect(createToken(own, 'taken', NOW, NOW + 60)).rejects.toThrow(
    'The name "taken" is in use; revoke that token first, or choose another name.',
  );
  await expect(revokeToken(own, 'nobody')).rejects.toThrow('There is no token named "nobody".');
  expect(await listTokens(own)).toEqual(before);
});

test('an item that lacks its name and times hides no other, is listed as expired, and is revoked under the empty name', async () => {
  const own = await emptyTable();
  await createToken(own, 'ci', NOW, NOW + 60);
  const digest = digestOf('put there by hand');
  await engine.client.send(new PutItemCommand({ TableName: own.tableName, Item: { digest: { S: digest } } }));
  const [incomplete, issued] = await listTokens(own);
  expect(incomplete).toEqual({ digest, name: '', createdAt: 0, expiresAt: 0 });
  expect(issued?.name).toBe('ci');
  await revokeToken(own, '');
  expect(await listTokens(own)).toEqual([issued]);
});
