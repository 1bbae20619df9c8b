import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { fromItem, toItem } from '#shared/dynamodb/attributes.ts';
import type { DynamoDb } from '#shared/dynamodb/client.ts';
import { PlantStoreError } from '#shared/http/errors.ts';
import { successResponse } from '#shared/http/success-response.ts';
import { databaseTimeoutMs } from '#shared/time-limits.ts';
import { type GetPlantEvent, plantShape } from './contract.generated.js';

/**
 * Responds with the plant with an id (openapi.yaml, `getPlant`).
 *
 * @throws 404 if there is none; the errors of `DynamoDb.call`.
 */
export function getPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ pathParameters }: GetPlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { id } = pathParameters;
    // Without ConsistentRead, it might not find a plant that was created just before.
    const read = { TableName: tableName, Key: toItem({ id }), ConsistentRead: true };
    const { Item: item } = await dynamoDb.call('GetItem', read, databaseTimeoutMs(context));
    if (!item) throw new PlantStoreError(404, `There is no plant with the id ${id}.`);
    return successResponse(fromItem(item, plantShape));
  };
}
