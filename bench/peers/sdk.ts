import { createHash } from 'node:crypto';
import { DynamoDBClient, type DynamoDBClientConfig, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/* The AWS SDK's client without a framework: it reads the token, writes the plant and logs, with fewer checks. */

/** Each setting saves a look-up, such as that of a profile, or code that is loaded for it. */
const BEST_SETTINGS: DynamoDBClientConfig = {
  region: String(process.env['AWS_REGION']),
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
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
  const start = performance.now();
  const { id, ...plant } = JSON.parse(event.body ?? '{}');
  const { name, tag } = plant;
  const owner = await tokenName(event.headers['Authorization']);
  const isPlant = Number.isInteger(id) && typeof name === 'string' && typeof tag === 'string';
  if (owner === undefined || !isPlant) return { statusCode: 400, body: 'The token or the plant is not valid.' };
  const creation = { createdAt: { N: String(Math.floor(Date.now() / 1000)) }, createdBy: { S: owner } };
  const write = new PutItemCommand({
    TableName: process.env['PLANTS_TABLE_NAME'],
    Item: { id: { N: String(id) }, name: { S: name }, tag: { S: tag }, ...creation },
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  await client.send(write);
  console.info({ operation: 'POST /plants', tokenName: owner, durationMs: performance.now() - start });
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(plant) };
};

/** Returns the name of a valid bearer token, and undefined for any other. */
async function tokenName(authorization = ''): Promise<string | undefined> {
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const digest = createHash('sha256').update(token).digest('hex');
  const read = { TableName: process.env['ACCESS_TOKENS_TABLE_NAME'], Key: { digest: { S: digest } } };
  const { Item } = await client.send(new GetItemCommand(read));
  return Number(Item?.['expiresAt']?.N) * 1000 > Date.now() ? Item?.['name']?.S : undefined;
}
