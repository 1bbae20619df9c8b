import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { itemOf, membersOf } from '#shared/dynamodb/attributes.ts';
import type { DynamoDb } from '#shared/dynamodb/client.ts';
import { successResponse } from '#shared/success-response.ts';
import { type ListPlantsEvent, plantType } from './contract.generated.js';

/** Responds with a page of plants (openapi.yaml, `listPlants`); by default of 20 plants. */
export function listPlants(dynamoDb: DynamoDb, tableName: string) {
  return async ({ queryStringParameters }: ListPlantsEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { limit = 20, cursor } = queryStringParameters;
    const start = cursor === undefined ? {} : { ExclusiveStartKey: itemOf({ id: cursor }) };
    const read = { TableName: tableName, Limit: limit, ...start };
    const { Items: items = [], LastEvaluatedKey: lastKey } = await dynamoDb.send('Scan', read, context);
    const plants = items.map((item) => membersOf(item, { id: 'int64', ...plantType }));
    const next = lastKey && { cursor: String(lastKey['id']?.N) };
    return successResponse({ plants, ...next });
  };
}
