import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { fromItem, toItem } from '#shared/dynamodb/attributes.ts';
import type { DynamoDb } from '#shared/dynamodb/client.ts';
import { successResponse } from '#shared/http/success-response.ts';
import { toJson } from '#shared/json/to-json.ts';
import { databaseTimeoutMs } from '#shared/time-limits.ts';
import { type ListPlantsEvent, plantShape } from './contract.generated.js';

/**
 * Maximum size of the plants of a page, in bytes. Lambda rejects a response of more than 6 MB ("Lambda quotas"). A page
 * of DynamoDB has at most 1 MB, but a control character has one byte there, and seven in the response. A plant alone
 * always fits.
 */
const MAX_PAGE_BYTES = 5_000_000;

/** Responds with a page of plants (openapi.yaml, `listPlants`); by default of 20 plants. */
export function listPlants(dynamoDb: DynamoDb, tableName: string) {
  return async ({ queryStringParameters }: ListPlantsEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const { limit = 20, cursor } = queryStringParameters;
    const start = cursor === undefined ? {} : { ExclusiveStartKey: toItem({ id: BigInt(cursor) }) };
    const read = { TableName: tableName, Limit: limit, ...start };
    const { Items: items = [], LastEvaluatedKey: lastKey } = await dynamoDb.call(
      'Scan',
      read,
      databaseTimeoutMs(context),
    );
    const plants = [];
    let size = 0;
    for (const item of items) {
      const plant = fromItem(item, { id: 'int64', ...plantShape });
      // The body is JSON, as a string in the JSON of the function's response.
      size += Buffer.byteLength(JSON.stringify(toJson(plant)));
      if (size > MAX_PAGE_BYTES) break;
      plants.push(plant);
    }
    const next = plants.length < items.length ? items[plants.length - 1] : lastKey;
    return successResponse({ plants, cursor: next?.['id']?.N });
  };
}
