import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import {
  type AttributeValue,
  attributeValue,
  type DynamoDb,
  DynamoDbError,
  type Input,
} from '../shared/dynamodb/dynamodb.ts';
import { PlantStoreError } from '../shared/errors.ts';
import { pick, success } from '../shared/success.ts';
import { type CreatePlantEvent, type CreatePlantResponse, type NewPlant, plantMembers } from './contract.generated.js';

/** DynamoDB's limit of an item, names included ("Constraints in Amazon DynamoDB"). */
const MAX_ITEM_BYTES = 400 * 1024;

/**
 * Stores the NewPlant and responds with the Plant (openapi.yaml, `createPlant`).
 * Throws 409 if the id is in use by a different plant, 413 if the plant is larger than an item may be; otherwise as
 * `DynamoDb.send` does.
 */
export function createPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ body: plant }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    const texts = plantMembers.map((member) => plant[member]).join('');
    if (Buffer.byteLength(texts) > MAX_ITEM_BYTES) throw tooLarge();
    await dynamoDb.send('PutItem', writeOf(plant, tableName), context).catch((error) => {
      if (!(error instanceof DynamoDbError)) throw error;
      if (error.name === 'ConditionalCheckFailedException') {
        throw new PlantStoreError(409, `The id ${plant.id} is in use by a different plant; it must be a free one.`);
      }
      // Only DynamoDB knows exactly what counts as the size of an item.
      throw /item size/i.test(error.message) ? tooLarge() : error;
    });
    return success<CreatePlantResponse>(pick(plant, plantMembers));
  };
}

/**
 * One conditional write: to a free id, or over the very same plant. So a repeated write (after a lost response, for
 * example) changes nothing and succeeds.
 */
function writeOf(plant: NewPlant, TableName: string): Input<'PutItem'> {
  const Item: Record<string, AttributeValue> = { id: { N: String(plant.id) } };
  const names: Record<string, string> = {};
  const values: Record<string, AttributeValue> = {};
  const alike = plantMembers.map((member, at) => {
    // Numbered, because a member's name may have characters that a placeholder may not.
    names[`#m${at}`] = member;
    const value = plant[member];
    if (value === undefined) return `attribute_not_exists(#m${at})`;
    Item[member] = values[`:m${at}`] = attributeValue(value);
    return `#m${at} = :m${at}`;
  });
  return {
    TableName,
    Item,
    ConditionExpression: `attribute_not_exists(id) OR (${alike.join(' AND ')})`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}

function tooLarge(): PlantStoreError {
  return new PlantStoreError(413, 'The plant is too large; it must fit into an item of 400 KB.');
}
