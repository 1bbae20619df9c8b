import { createHash } from 'node:crypto';
import { DynamoDBClient, type DynamoDBClientConfig, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/* The AWS SDK's client without a framework. Does as much as the function: token, write and log line. */

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
// Connects in init, as the function does: reads a token that does not exist.
if (process.env['AT_ITS_BEST']) await tokenName('Bearer none');

export const handler = async (event: APIGatewayProxyEvent) => {
  const { status, body } = await createPlant(event.headers['Authorization'], JSON.parse(event.body ?? '{}'));
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
};

/** Stores the plant of a request. Returns the status and the body of the response. */
export async function createPlant(authorization: string | undefined, newPlant: Record<string, unknown> | undefined) {
  const start = performance.now();
  const { id, name, tag } = newPlant ?? {};
  const owner = await tokenName(authorization);
  if (owner === undefined || !Number.isInteger(id) || typeof name !== 'string' || typeof tag !== 'string') {
    return { status: 400, body: { error: 400, message: 'The token or the plant is not valid.' } };
  }
  const write = new PutItemCommand({
    TableName: process.env['PLANTS_TABLE_NAME'],
    Item: {
      id: { N: String(id) },
      name: { S: name },
      tag: { S: tag },
      createdAt: { N: String(Math.floor(Date.now() / 1000)) },
      createdBy: { S: owner },
    },
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  await client.send(write);
  console.info({ operation: 'POST /plants', tokenName: owner, durationMs: performance.now() - start });
  return { status: 200, body: { name, tag } };
}

/** Returns the name of a valid bearer token, and undefined for any other. */
async function tokenName(authorization = ''): Promise<string | undefined> {
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const digest = createHash('sha256').update(token).digest('hex');
  const read = { TableName: process.env['ACCESS_TOKENS_TABLE_NAME'], Key: { digest: { S: digest } } };
  const { Item } = await client.send(new GetItemCommand(read));
  return Number(Item?.['expiresAt']?.N) * 1000 > Date.now() ? Item?.['name']?.S : undefined;
}
