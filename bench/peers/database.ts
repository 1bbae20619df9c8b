import { createHash } from 'node:crypto';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';

/*
 * Shared by all peers: the SDK's default client, with the same token look-up (cached for a minute) and the same
 * conditional write as the function's.
 */

export interface NewPlant {
  id: number;
  name: string;
  tag?: string | undefined;
}

const client = new DynamoDBClient({});
const cache = new Map<string, { name: string; until: number }>();

/** Returns the name of a valid bearer token, and undefined for any other. */
export async function tokenName(authorization: string | undefined): Promise<string | undefined> {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  const digest = createHash('sha256').update(token).digest('hex');
  const cached = cache.get(digest);
  if (cached && Date.now() < cached.until) return cached.name;
  const read = { TableName: process.env['ACCESS_TOKENS_TABLE_NAME'], Key: { digest: { S: digest } } };
  const { Item } = await client.send(new GetItemCommand(read));
  const name = Item?.['name']?.S;
  if (name === undefined || Number(Item?.['expiresAt']?.N) * 1000 < Date.now()) return undefined;
  cache.set(digest, { name, until: Date.now() + 60_000 });
  return name;
}

/** Stores a plant. Returns false if the id is in use by a different plant. */
export async function createPlant({ id, name, tag }: NewPlant): Promise<boolean> {
  const sameTag = tag === undefined ? 'attribute_not_exists(#tag)' : '#tag = :tag';
  const write = new PutItemCommand({
    TableName: process.env['PLANTS_TABLE_NAME'],
    Item: { id: { N: String(id) }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) },
    ConditionExpression: `attribute_not_exists(id) OR (#name = :name AND ${sameTag})`,
    ExpressionAttributeNames: { '#name': 'name', '#tag': 'tag' },
    ExpressionAttributeValues: { ':name': { S: name }, ...(tag !== undefined && { ':tag': { S: tag } }) },
  });
  try {
    await client.send(write);
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return false;
    throw error;
  }
}

export const UNAUTHORIZED = { error: 401, message: 'The access token is missing or not valid.' };
export const BAD_REQUEST = { error: 400, message: 'The body is not a NewPlant.' };
export const CONFLICT = { error: 409, message: 'The id is in use by a different plant.' };

/** Creates a proxy response, for peers without a framework that does so. */
export const jsonResponse = (statusCode: number, body: object) => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Logs one line per request, as the function does. */
export function log(created: boolean, tokenName: string | undefined, start: number): void {
  const outcome = created ? 'succeeded' : 'refused';
  console.info({ operation: 'createPlant', outcome, tokenName, durationMs: performance.now() - start });
}
