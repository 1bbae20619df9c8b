import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { DynamoDb } from '../dynamodb/client.ts';
import { PlantStoreError } from '../errors.ts';
import { databaseTimeoutMs } from '../time-limits.ts';
import { fromItem, type NewPlant, toItem } from './plant.generated.ts';

export interface CreatePlantEvent {
  body: NewPlant;
  tokenName: string;
}

/**
 * Returns the handler that stores the NewPlant and responds with the Plant (openapi.yaml, `createPlant`). If the id is
 * in use by the same plant, as after a lost response, it changes nothing and responds in the same way. For operators,
 * the item also has `createdAt` (seconds since 1970) and `createdBy` (the name of the token).
 *
 * @throws 409 if the id is in use by a different plant; the errors of `DynamoDb.call`.
 */
export function createPlant(dynamoDb: Pick<DynamoDb, 'call'>, tableName: string) {
  return async ({ body, tokenName }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const item = toItem(body);
    const put = {
      TableName: tableName,
      Item: {
        ...item,
        createdAt: { N: String(Math.floor(Date.now() / 1000)) },
        createdBy: { S: tokenName },
      },
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    const existing = await dynamoDb.call('PutItem', put, { id: item.id }, databaseTimeoutMs(context));
    // DynamoDB returns an item's attributes in any order, so the members are compared.
    if (existing && JSON.stringify(fromItem(existing)) !== JSON.stringify(fromItem(item)))
      throw new PlantStoreError(409, `The id ${body.id} is in use by a different plant; use another id.`);
    const { id: _, ...plant } = fromItem(item);
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(plant) };
  };
}
