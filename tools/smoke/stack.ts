import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type AttributeValue, DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Plant } from '../../functions/create-plant/contract.generated.js';
import { newToken } from '../../functions/shared/access-tokens/token.ts';
import { findBaseUrl, findTable, type Item, plantsById, type Table } from '../shared/table.ts';

const TOKEN_SECONDS = 60 * 60;

/** Creates a valid and an expired token in a stack, by default the local run. Returns them, with access to its plants. */
export async function openStack(stack: string | undefined) {
  const baseUrl = await findBaseUrl(stack);
  const plants = await findTable(stack, 'plants');
  const accessTokens = await findTable(stack, 'accessTokens');
  const now = Math.floor(Date.now() / 1000);
  const tokenName = `smoke-${randomUUID()}`;
  const expired = newToken(`${tokenName}-expired`, now - 2 * TOKEN_SECONDS, now - TOKEN_SECONDS);
  const valid = newToken(tokenName, now, now + TOKEN_SECONDS);
  for (const { item } of [expired, valid]) {
    await accessTokens.client.send(new PutItemCommand({ TableName: accessTokens.tableName, Item: item }));
  }

  return {
    baseUrl,
    tokenName,
    token: valid.token,
    expiredToken: expired.token,

    /** Returns what is wrong with the stored plants; undefined if they are exactly these. */
    async compareStored(expected: Map<bigint, Plant>): Promise<string | undefined> {
      const start = (item: Item | undefined) => JSON.stringify(item)?.slice(0, 100) ?? 'missing';
      const problems = (await storedPlants(expected)).flatMap(({ id, item, wanted }) =>
        isDeepStrictEqual(item, wanted) ? [] : `${id} is ${start(item)}; it must be ${start(wanted)}`,
      );
      return problems.join('\n      ') || undefined;
    },

    /** Deletes the tokens, and each plant that has these members. Returns the ids of the others. */
    async cleanUp(expected: Map<bigint, Plant>): Promise<string> {
      for (const { item } of [valid, expired]) await remove(accessTokens, { digest: item.digest });
      const kept: bigint[] = [];
      for (const { id, item, wanted } of await storedPlants(expected)) {
        const hasMembers = isDeepStrictEqual(item, { ...item, ...wanted });
        if (hasMembers) await remove(plants, { id: wanted.id });
        else if (item) kept.push(id);
      }
      return kept.join(', ');
    },
  };

  async function storedPlants(expected: Map<bigint, Plant>) {
    const stored = await plantsById(plants, [...expected.keys()].map(String));
    return [...expected].map(([id, plant]) => ({ id, item: stored.get(String(id)), wanted: itemOf(id, plant) }));
  }
}

async function remove({ client, tableName }: Table, Key: Item): Promise<void> {
  await client.send(new DeleteItemCommand({ TableName: tableName, Key }));
}

/** Not the code of the functions, because the smoke test checks what that stores. */
function itemOf(id: bigint, plant: Plant) {
  return { id: { N: String(id) }, ...attributesOf(plant) };
}

function attributesOf(members: object): Item {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, attributeOf(value)]));
}

function attributeOf(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(attributeOf) };
  return typeof value === 'object' && value ? { M: attributesOf(value) } : { N: String(value) };
}
