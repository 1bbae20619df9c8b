import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { fromItem, toItem } from '#shared/dynamodb/attributes.ts';
import type { DynamoDb } from '#shared/dynamodb/client.ts';
import { successResponse } from '#shared/http/success-response.ts';
import { databaseMs } from '#shared/time-limits.ts';
import { type ListPlantsEvent, plantShape } from './contract.generated.js';

/** Responds with a page of plants (openapi.yaml, `listPlants`); by default of 20 plants. */
export function listPlants(dynamoDb: DynamoDb, tableName: string) {
  return async ({ queryStringParameters }: ListPlantsEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { limit = 20, cursor } = queryStringParameters;
    const start = cursor === undefined ? {} : { ExclusiveStartKey: toItem({ id: cursor }) };
    const read = { TableName: tableName, Limit: limit, ...start };
    const { Items: items = [], LastEvaluatedKey: lastKey } = await dynamoDb.call('Scan', read, databaseMs(context));
    const plants = items.map((item) => fromItem(item, { id: 'int64', ...plantShape }));
    const next = lastKey && { cursor: String(lastKey['id']?.N) };
    return successResponse({ plants, ...next });
  };
}
