import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import type { NewPlant } from './contract.generated.js';
import { callStore, rehearse } from './dynamodb.ts';
import { PlantStoreError } from './errors.ts';

/** DynamoDB's limit of an item, names included ("Constraints in Amazon DynamoDB"). */
const ITEM_BYTES = 400 * 1024;

/** The plants table as the function sees it: it can create a plant, nothing else. */
export class PlantStore {
  readonly #dynamoDb: DynamoDBClient;
  readonly #tableName: string;

  constructor(dynamoDb: DynamoDBClient, tableName: string) {
    this.#dynamoDb = dynamoDb;
    this.#tableName = tableName;
  }

  /**
   * Stores a plant in one conditional write: under a free id, or over the very same plant, so that a
   * repeat (the caller's, or the SDK's after a lost answer) changes nothing and succeeds.
   * Throws 409 where the id is in use by a different plant, 413 where the plant is larger than an
   * item may be; otherwise as `callStore` does.
   */
  async create(plant: NewPlant, context: Context): Promise<void> {
    const { id, name, tag } = plant;
    const bytes = Buffer.byteLength(name) + (tag === undefined ? 0 : Buffer.byteLength(tag));
    if (bytes > ITEM_BYTES) throw tooLarge();
    const write = this.#write(plant);
    try {
      await callStore(this.#dynamoDb, write.input, context, () => this.#dynamoDb.send(write));
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        throw new PlantStoreError(409, `The id ${id} is in use by a different plant; it must be a free one.`);
      }
      // What else is counted in an item, only the store knows exactly.
      if (error instanceof DynamoDBServiceException && /item size/i.test(error.message)) throw tooLarge();
      throw error;
    }
  }

  /** Pays at init what the first write costs before it is sent. Never fails, and writes nothing. */
  async prime(): Promise<void> {
    const write = this.#write({ id: 0n, name: '', tag: '' });
    await rehearse(write.input, () => this.#dynamoDb.send(write));
  }

  #write({ id, name, tag }: NewPlant): PutItemCommand {
    return new PutItemCommand({
      TableName: this.#tableName,
      ReturnConsumedCapacity: 'TOTAL',
      Item: { id: { N: String(id) }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) },
      ConditionExpression: `attribute_not_exists(id) OR (#name = :name AND ${
        tag === undefined ? 'attribute_not_exists(#tag)' : '#tag = :tag'
      })`,
      ExpressionAttributeNames: { '#name': 'name', '#tag': 'tag' },
      ExpressionAttributeValues: { ':name': { S: name }, ...(tag !== undefined && { ':tag': { S: tag } }) },
    });
  }
}

function tooLarge(): PlantStoreError {
  return new PlantStoreError(413, 'The plant is too large; name and tag must fit into an item of 400 KB.');
}
