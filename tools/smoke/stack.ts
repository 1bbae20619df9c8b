import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Plant } from '../../functions/create-plant/contract.generated.js';
import { newToken } from '../../functions/shared/access-tokens/token.ts';
import { findBaseUrl, findTable, type Item, plantsById, type Table, valuesOf } from '../shared/table.ts';

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
      const beginning = (value: unknown) => JSON.stringify(value)?.slice(0, 100) ?? 'missing';
      const problems = (await storedPlants(expected)).flatMap(({ id, stored, plant }) =>
        isDeepStrictEqual(stored, plant) ? [] : `${id} is ${beginning(stored)}; it must be ${beginning(plant)}`,
      );
      return problems.join('\n      ') || undefined;
    },

    /** Deletes the tokens, and each plant that has these members. Returns the ids of the others. */
    async cleanUp(expected: Map<bigint, Plant>): Promise<string> {
      for (const { item } of [valid, expired]) await remove(accessTokens, { digest: item.digest });
      const kept: bigint[] = [];
      for (const { id, stored, plant } of await storedPlants(expected)) {
        const hasMembers = isDeepStrictEqual(stored, { ...stored, ...plant });
        if (hasMembers) await remove(plants, { id: { N: String(id) } });
        else if (stored) kept.push(id);
      }
      return kept.join(', ');
    },
  };

  /** Not with the code of the functions, because the smoke test checks what that stores. */
  async function storedPlants(expected: Map<bigint, Plant>) {
    const items = await plantsById(plants, [...expected.keys()].map(String));
    return [...expected].map(([id, plant]) => {
      const { id: _, ...members } = items.get(String(id)) ?? {};
      return { id, plant, stored: items.has(String(id)) ? valuesOf(members) : undefined };
    });
  }
}

async function remove({ client, tableName }: Table, Key: Item): Promise<void> {
  await client.send(new DeleteItemCommand({ TableName: tableName, Key }));
}
