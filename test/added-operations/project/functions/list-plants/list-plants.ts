import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { type DynamoDb, memberValue } from '../shared/dynamodb/dynamodb.ts';
import { successResponse } from '../shared/success-response.ts';
import { type ListPlantsEvent, type ListPlantsResponse, plantMemberNames } from './contract.generated.js';

/** Responds with a page of plants (openapi.yaml, `listPlants`); by default of 20 plants. */
export function listPlants(dynamoDb: DynamoDb, tableName: string) {
  return async ({ queryStringParameters }: ListPlantsEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { limit = 20, cursor } = queryStringParameters;
    const start = cursor === undefined ? {} : { ExclusiveStartKey: { id: { N: String(cursor) } } };
    const { Items = [], LastEvaluatedKey } = await dynamoDb.send(
      'Scan',
      { TableName: tableName, Limit: limit, ...start },
      context,
    );
    const plants = Items.map((item) => {
      const members = plantMemberNames.map((member) => [member, memberValue(item[member])]);
      // createPlant validated it before it was stored.
      return Object.fromEntries(members) as ListPlantsResponse['plants'][number];
    });
    const next = LastEvaluatedKey && { cursor: String(LastEvaluatedKey['id']?.N) };
    return successResponse<ListPlantsResponse>({ plants, ...next });
  };
}
