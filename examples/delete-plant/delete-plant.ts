import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { itemOf, membersOf } from '../shared/dynamodb/attributes.ts';
import type { DynamoDb } from '../shared/dynamodb/client.ts';
import { PlantStoreError } from '../shared/errors.ts';
import { successResponse } from '../shared/success-response.ts';
import { type DeletePlantEvent, type DeletePlantResponse, plantType } from './contract.generated.js';

/**
 * Deletes the plant with an id and responds with it (openapi.yaml, `deletePlant`).
 *
 * @throws 404 if there is none; the errors of `DynamoDb.send`.
 */
export function deletePlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ pathParameters }: DeletePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { id } = pathParameters;
    const deletion = { TableName: tableName, Key: itemOf({ id }), ReturnValues: 'ALL_OLD' as const };
    const { Attributes: item } = await dynamoDb.send('DeleteItem', deletion, context);
    if (!item) throw new PlantStoreError(404, `There is no plant with the id ${id}.`);
    return successResponse(membersOf<DeletePlantResponse>(item, plantType));
  };
}
