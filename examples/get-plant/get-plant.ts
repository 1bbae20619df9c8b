import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { itemOf, membersOf } from '#shared/dynamodb/attributes.ts';
import type { DynamoDb } from '#shared/dynamodb/client.ts';
import { PlantStoreError } from '#shared/errors.ts';
import { successResponse } from '#shared/success-response.ts';
import { type GetPlantEvent, plantType } from './contract.generated.js';

/**
 * Responds with the plant with an id (openapi.yaml, `getPlant`).
 *
 * @throws 404 if there is none; the errors of `DynamoDb.send`.
 */
export function getPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ pathParameters }: GetPlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { id } = pathParameters;
    // Without ConsistentRead, it might not find a plant that was created just before.
    const read = { TableName: tableName, Key: itemOf({ id }), ConsistentRead: true };
    const { Item: item } = await dynamoDb.send('GetItem', read, context);
    if (!item) throw new PlantStoreError(404, `There is no plant with the id ${id}.`);
    return successResponse(membersOf(item, plantType));
  };
}
