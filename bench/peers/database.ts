import { createHash } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';

/*
 * What all peers share: DynamoDB as the SDK's documentation has it, with its default client, the same
 * token look-up (remembered for a minute) and the same conditional write as the function's.
 */

export interface NewPlant {
  id: number;
  name: string;
  tag?: string | undefined;
}

const client = new DynamoDBClient({});
const remembered = new Map<string, { name: string; until: number }>();

/** The name of a bearer token's owner; nothing for one that is not valid. */
export async function tokenName(authorization: string | undefined): Promise<string | undefined> {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  const digest = createHash('sha256').update(token).digest('hex');
  const known = remembered.get(digest);
  if (known && Date.now() < known.until) return known.name;
  const { Item } = await client.send(read(digest));
  const name = Item?.['name']?.S;
  if (name === undefined || Number(Item?.['expiresAt']?.N) * 1000 < Date.now()) return undefined;
  remembered.set(digest, { name, until: Date.now() + 60_000 });
  return name;
}

/** Whether the plant is stored now; false where its id is in use by a different one. */
export async function createPlant(plant: NewPlant): Promise<boolean> {
  try {
    await client.send(write(plant));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Opens the connection at init, as the plant store does: reads a digest that no token has. */
export async function warmUp(): Promise<void> {
  await client.send(read('none'));
}

function read(digest: string): GetItemCommand {
  return new GetItemCommand({ TableName: process.env['ACCESS_TOKENS_TABLE_NAME'], Key: { digest: { S: digest } } });
}

function write({ id, name, tag }: NewPlant): PutItemCommand {
  return new PutItemCommand({
    TableName: process.env['PLANTS_TABLE_NAME'],
    Item: { id: { N: String(id) }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) },
    ConditionExpression: `attribute_not_exists(id) OR (#name = :name AND ${tag === undefined ? 'attribute_not_exists(#tag)' : '#tag = :tag'})`,
    ExpressionAttributeNames: { '#name': 'name', '#tag': 'tag' },
    ExpressionAttributeValues: { ':name': { S: name }, ...(tag !== undefined && { ':tag': { S: tag } }) },
  });
}

export const UNAUTHORIZED = { error: 401, message: 'The access token is missing or not valid.' };
export const BAD_REQUEST = { error: 400, message: 'The body is not a NewPlant.' };
export const CONFLICT = { error: 409, message: 'The id is in use by a different plant.' };

/** A response of Lambda's proxy integration, for who has no framework that makes it. */
export const answer = (statusCode: number, body: object) => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** One line a request, as the function has. */
export function log(created: boolean, tokenName: string | undefined, start: number): void {
  const outcome = created ? 'succeeded' : 'refused';
  console.info({ operation: 'createPlant', outcome, tokenName, durationMs: performance.now() - start });
}
