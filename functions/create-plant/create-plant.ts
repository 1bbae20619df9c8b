import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { AttributeValue, Input } from '../shared/dynamodb/actions.ts';
import { attributeValue } from '../shared/dynamodb/attributes.ts';
import type { DynamoDb } from '../shared/dynamodb/client.ts';
import { DynamoDbError } from '../shared/dynamodb/response.ts';
import { PlantStoreError } from '../shared/errors.ts';
import { pick, successResponse } from '../shared/success-response.ts';
import { type CreatePlantEvent, type NewPlant, type Plant, plantMemberNames } from './contract.generated.js';

/** DynamoDB's maximum item size, attribute names included ("Constraints in Amazon DynamoDB"). */
const MAX_ITEM_BYTES = 400 * 1024;

/**
 * Stores the NewPlant and responds with the Plant (openapi.yaml, `createPlant`).
 *
 * @throws 409 if the id is in use by a different plant; 413 if the plant exceeds an item's maximum size; the errors of
 * `DynamoDb.send`.
 */
export function createPlant(dynamoDb: DynamoDb, tableName: string) {
  return async ({ body: plant }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    // DynamoDB checks the exact size. But more than 2 MB would first exceed its limit for the values of an expression,
    // which is another error ("Constraints in Amazon DynamoDB").
    const bytes = plantMemberNames.reduce((sum, member) => sum + Buffer.byteLength(String(plant[member] ?? '')), 0);
    if (bytes > MAX_ITEM_BYTES) throw tooLarge();
    await dynamoDb.send('PutItem', putInput(plant, tableName), context).catch((thrown) => {
      if (!(thrown instanceof DynamoDbError)) throw thrown;
      if (thrown.name === 'ConditionalCheckFailedException') {
        throw new PlantStoreError(409, `The id ${plant.id} is in use by a different plant; use another id.`);
      }
      // DynamoDB reports a too large item as a ValidationException; only its message differs.
      throw /item size/i.test(thrown.message) ? tooLarge() : thrown;
    });
    return successResponse<Plant>(pick(plant, plantMemberNames));
  };
}

/**
 * A conditional write, which succeeds if the id is free or the stored plant is the same. A repeated write (for example
 * after a lost response) therefore succeeds and changes nothing.
 */
function putInput(plant: NewPlant, tableName: string): Input<'PutItem'> {
  const item: Record<string, AttributeValue> = { id: attributeValue(plant.id) };
  const names: Record<string, string> = {};
  const values: Record<string, AttributeValue> = {};
  const sameMembers: string[] = [];
  for (const [index, member] of plantMemberNames.entries()) {
    // Numbered, because a member's name can contain characters that a placeholder must not.
    const [namePlaceholder, valuePlaceholder] = [`#name${index}`, `:value${index}`];
    names[namePlaceholder] = member;
    const value = plant[member];
    if (value === undefined) {
      sameMembers.push(`attribute_not_exists(${namePlaceholder})`);
      continue;
    }
    const attribute = attributeValue(value);
    item[member] = attribute;
    values[valuePlaceholder] = attribute;
    sameMembers.push(`${namePlaceholder} = ${valuePlaceholder}`);
  }
  return {
    TableName: tableName,
    Item: item,
    ConditionExpression: `attribute_not_exists(id) OR (${sameMembers.join(' AND ')})`,
    ExpressionAttributeNames: names,
    // DynamoDB rejects an empty object.
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

function tooLarge(): PlantStoreError {
  return new PlantStoreError(413, `The plant is too large; it must fit into an item of ${MAX_ITEM_BYTES / 1024} KB.`);
}
