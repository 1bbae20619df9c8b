import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { itemOf, membersOf } from '../shared/dynamodb/attributes.ts';
import type { DynamoDb } from '../shared/dynamodb/client.ts';
import { successResponse } from '../shared/success-response.ts';
import { type ListPlantsByTagEvent, type ListPlantsByTagResponse, plantType } from './contract.generated.js';

type ListedPlant = ListPlantsByTagResponse['plants'][number];

/** Responds with a page of the plants with a tag (openapi.yaml, `listPlantsByTag`); by default of 20 plants. */
export function listPlantsByTag(dynamoDb: DynamoDb, tableName: string) {
  return async (event: ListPlantsByTagEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { tag } = event.pathParameters;
    const { limit = 20, cursor } = event.queryStringParameters;
    const read = {
      TableName: tableName,
      IndexName: 'byTag',
      KeyConditionExpression: 'tag = :tag',
      ExpressionAttributeValues: itemOf({ ':tag': tag }),
      Limit: limit,
      ...(cursor !== undefined && { ExclusiveStartKey: itemOf({ id: cursor, tag }) }),
    };
    const { Items: items = [], LastEvaluatedKey: lastKey } = await dynamoDb.send('Query', read, context);
    const plants = items.map((item) => membersOf<ListedPlant>(item, { id: 'int64', ...plantType }));
    const next = lastKey && { cursor: String(lastKey['id']?.N) };
    return successResponse({ plants, ...next });
  };
}
