import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { fromItem, type Item, toItem } from '../dynamodb/attributes.ts';
import type { DynamoDb } from '../dynamodb/client.ts';
import { ConditionFailedError } from '../dynamodb/response.ts';
import { PlantStoreError } from '../errors.ts';
import { toJson } from '../json/to-json.ts';
import { successResponse } from '../middleware/success-response.ts';
import { databaseTimeoutMs } from '../time-limits.ts';
import { type CreatePlantEvent, newPlantShape, plantShape } from './contract.generated.js';

/**
 * Stores the NewPlant and responds with the Plant (openapi.yaml, `createPlant`). If the id is in use by the same plant,
 * as after a lost response, it changes nothing and responds in the same way.
 *
 * @throws 409 if the id is in use by a different plant; the errors of `DynamoDb.call`.
 */
export function createPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ body: newPlant }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const item = toItem(newPlant);
    const put = {
      TableName: tableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    await dynamoDb.call('PutItem', put, databaseTimeoutMs(context)).catch((thrown) => {
      if (!(thrown instanceof ConditionFailedError)) throw thrown;
      if (thrown.item && isSamePlant(thrown.item, item)) return;
      throw new PlantStoreError(409, `The id ${newPlant.id} is in use by a different plant; use another id.`);
    });
    // Read from the item, the response has exactly the members of a Plant, in the contract's order, as a later read
    // has.
    return successResponse(fromItem(item, plantShape));
  };
}

function isSamePlant(stored: Item, sent: Item): boolean {
  return plantJson(stored) === plantJson(sent);
}

/** Two equal items can differ in the order of members, and in how DynamoDB writes a number. Their JSON is the same. */
function plantJson(item: Item): string {
  return toJson(fromItem(item, newPlantShape));
}
