import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { ConditionFailedError, type DynamoDb, type StoredItem } from '../dynamodb/client.ts';
import { PlantStoreError } from '../errors.ts';
import { databaseTimeoutMs } from '../time-limits.ts';
import { fromItem, type NewPlant, toItem } from './plant.ts';

/**
 * Stores the NewPlant and responds with the Plant (openapi.yaml, `createPlant`). If the id is in use by the same plant,
 * as after a lost response, it changes nothing and responds in the same way.
 *
 * @throws 409 if the id is in use by a different plant; the errors of `DynamoDb.call`.
 */
export function createPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ body }: { body: NewPlant }, context: Context): Promise<APIGatewayProxyResult> => {
    const { id, name, tag } = body;
    const item = toItem(body);
    const put = {
      TableName: tableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    await dynamoDb.call('PutItem', put, databaseTimeoutMs(context)).catch((thrown) => {
      if (!(thrown instanceof ConditionFailedError)) throw thrown;
      if (thrown.item && isSamePlant(thrown.item, item)) return;
      throw new PlantStoreError(409, `The id ${id} is in use by a different plant; use another id.`);
    });
    const headers = { 'content-type': 'application/json' };
    return { statusCode: 200, headers, body: JSON.stringify({ name, tag }) };
  };
}

/** Compares the members of a plant, because DynamoDB returns an item's attributes in any order. */
function isSamePlant(stored: StoredItem, sent: StoredItem): boolean {
  return JSON.stringify(fromItem(stored)) === JSON.stringify(fromItem(sent));
}
