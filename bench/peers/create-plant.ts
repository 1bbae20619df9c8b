import { createHash } from 'node:crypto';
import { DynamoDBClient, type DynamoDBClientConfig, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';

/*
 * Shared by the peers, which use the AWS SDK's client, with the same token look-up (cached for a minute), the same
 * conditional write and the same log line as the function's.
 */

/** Each setting saves a look-up, such as that of a profile, or code that is loaded for it. */
const BEST_SETTINGS: DynamoDBClientConfig = {
  region: String(process.env['AWS_REGION']),
  credentials: {
    accessKeyId: String(process.env['AWS_ACCESS_KEY_ID']),
    secretAccessKey: String(process.env['AWS_SECRET_ACCESS_KEY']),
  },
  defaultsMode: 'standard',
  retryMode: 'standard',
  maxAttempts: 3,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
};

const client = new DynamoDBClient(process.env['AT_ITS_BEST'] ? BEST_SETTINGS : {});
const cache = new Map<string, { name: string; until: number }>();
// Connects in init, as the function does: reads a token that does not exist.
if (process.env['AT_ITS_BEST']) await tokenName('Bearer none');

/** Stores the plant of a request. Returns the status and the body of the response. */
export async function createPlant(authorization: string | undefined, newPlant: Record<string, unknown> | undefined) {
  const start = performance.now();
  const owner = await tokenName(authorization);
  if (owner === undefined) return errorResponse(401, 'The access token is missing or not valid.');
  const { id, name, tag } = newPlant ?? {};
  if (!Number.isInteger(id) || typeof name !== 'string' || (tag !== undefined && typeof tag !== 'string')) {
    return errorResponse(400, 'The body is not a NewPlant.');
  }
  const created = await store(String(id), name, tag);
  const outcome = created ? 'succeeded' : 'rejected';
  console.info({ operation: 'createPlant', outcome, tokenName: owner, durationMs: performance.now() - start });
  return created ? { status: 200, body: { name, tag } } : errorResponse(409, 'The id is in use by a different plant.');
}

const errorResponse = (error: number, message: string) => ({ status: 400, body: { error, message } });

/** Returns the name of a valid bearer token, and undefined for any other. */
async function tokenName(authorization: string | undefined): Promise<string | undefined> {
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
async function store(id: string, name: string, tag: string | undefined): Promise<boolean> {
  const sameTag = tag === undefined ? 'attribute_not_exists(#tag)' : '#tag = :tag';
  const write = new PutItemCommand({
    TableName: process.env['PLANTS_TABLE_NAME'],
    Item: { id: { N: id }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) },
    ConditionExpression: `attribute_not_exists(id) OR (#name = :name AND ${sameTag})`,
    ExpressionAttributeNames: { '#name': 'name', '#tag': 'tag' },
    ExpressionAttributeValues: { ':name': { S: name }, ...(tag !== undefined && { ':tag': { S: tag } }) },
  });
  try {
    await client.send(write);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'ConditionalCheckFailedException') return false;
    throw thrown;
  }
}
