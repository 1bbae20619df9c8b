import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { type DynamoDb, memberValue } from '../shared/dynamodb/dynamodb.ts';
import { PlantStoreError } from '../shared/errors.ts';
import { success } from '../shared/success.ts';
import { type GetPlantEvent, plantMembers } from './contract.generated.js';

/** The operation itself: reads the plant of an id (openapi.yaml, `getPlant`). Throws 404 where there is none. */
export function getPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ pathParameters }: GetPlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { id } = pathParameters;
    const read = { TableName: tableName, Key: { id: { N: String(id) } }, ConsistentRead: true };
    const { Item } = await dynamoDb.send('GetItem', read, context);
    if (!Item) throw new PlantStoreError(404, `There is no plant with the id ${id}.`);
    return success(Object.fromEntries(plantMembers.map((member) => [member, memberValue(Item[member])])));
  };
}
