import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { itemOf, membersOf } from '../shared/dynamodb/attributes.ts';
import type { DynamoDb } from '../shared/dynamodb/client.ts';
import { ConditionFailedError } from '../shared/dynamodb/response.ts';
import { PlantStoreError } from '../shared/errors.ts';
import { successResponse } from '../shared/success-response.ts';
import { plantType, type UpdatePlantEvent, type UpdatePlantResponse } from './contract.generated.js';

/**
 * Replaces all members of the plant with an id, and responds with it (openapi.yaml, `updatePlant`).
 *
 * @throws 404 if there is none; the errors of `DynamoDb.send`.
 */
export function updatePlant(dynamoDb: DynamoDb, tableName: string) {
  return async (
    { pathParameters, body: plant }: UpdatePlantEvent,
    context: Context,
  ): Promise<APIGatewayProxyResult> => {
    const { id } = pathParameters;
    const item = itemOf({ ...plant, id });
    const put = { TableName: tableName, Item: item, ConditionExpression: 'attribute_exists(id)' };
    await dynamoDb.send('PutItem', put, context).catch((thrown) => {
      if (thrown instanceof ConditionFailedError)
        throw new PlantStoreError(404, `There is no plant with the id ${id}.`);
      throw thrown;
    });
    return successResponse(membersOf<UpdatePlantResponse>(item, plantType));
  };
}
