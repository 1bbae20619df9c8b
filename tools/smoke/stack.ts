import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Plant } from '../../functions/create-plant/contract.generated.js';
import { newToken } from '../../functions/shared/access-tokens/token.ts';
import { findBaseUrl, findTable, type Item, plantsById } from '../shared/table.ts';

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
      const stored = await plantsById(plants, [...expected.keys()].map(String));
      const start = (item: Item | undefined) => JSON.stringify(item)?.slice(0, 100) ?? 'missing';
      const problems = [...expected].flatMap(([id, plant]) => {
        const [item, wanted] = [stored.get(String(id)), itemOf(id, plant)];
        return isDeepStrictEqual(item, wanted) ? [] : `${id} is ${start(item)}; it must be ${start(wanted)}`;
      });
      return problems.join('\n      ') || undefined;
    },

    /** Deletes the tokens, and each plant that has these members. Returns the ids of the others. */
    async cleanUp(expected: Map<bigint, Plant>): Promise<string> {
      for (const { item } of [valid, expired]) {
        const Key = { digest: item.digest };
        await accessTokens.client.send(new DeleteItemCommand({ TableName: accessTokens.tableName, Key }));
      }
      const kept: bigint[] = [];
      for (const [id, plant] of expected) {
        const { id: _, ...members } = itemOf(id, plant);
        const same = Object.keys(members).map((name) => `#${name} = :${name}`);
        const request = {
          TableName: plants.tableName,
          Key: { id: { N: String(id) } },
          ConditionExpression: `attribute_not_exists(id) OR (${same.join(' AND ')})`,
          ExpressionAttributeNames: Object.fromEntries(Object.keys(members).map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(Object.entries(members).map(([name, it]) => [`:${name}`, it])),
        };
        await plants.client.send(new DeleteItemCommand(request)).catch((error) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
          kept.push(id);
        });
      }
      return kept.join(', ');
    },
  };
}

/** Not the code of the functions, because the smoke test checks what that stores. */
function itemOf(id: bigint, plant: Plant): Item {
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
