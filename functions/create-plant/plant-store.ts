import { ConditionalCheckFailedException, DynamoDBServiceException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import type { Database } from '../shared/database.ts';
import { PlantStoreError } from '../shared/errors.ts';
import type { NewPlant } from './contract.generated.js';

/** DynamoDB's limit of an item, names included ("Constraints in Amazon DynamoDB"). */
const ITEM_BYTES = 400 * 1024;

/** The plants table as the function sees it: it can create a plant, nothing else. */
export class PlantStore {
  readonly #database: Database;
  readonly #tableName: string;

  constructor(database: Database, tableName: string) {
    this.#database = database;
    this.#tableName = tableName;
  }

  /**
   * Stores a plant in one conditional write: under a free id, or over the very same plant, so that a
   * repeat (the caller's, or the SDK's after a lost answer) changes nothing and succeeds.
   * Throws 409 where the id is in use by a different plant, 413 where the plant is larger than an
   * item may be; otherwise as `Database.send` does.
   */
  async create(plant: NewPlant, context: Context): Promise<void> {
    const { id, name, tag } = plant;
    const bytes = Buffer.byteLength(name) + (tag === undefined ? 0 : Buffer.byteLength(tag));
    if (bytes > ITEM_BYTES) throw tooLarge();
    const write = this.#write(plant);
    try {
      await this.#database.send(write, context);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        throw new PlantStoreError(409, `The id ${id} is in use by a different plant; it must be a free one.`);
      }
      // What else is counted in an item, only the database knows exactly.
      if (error instanceof DynamoDBServiceException && /item size/i.test(error.message)) throw tooLarge();
      throw error;
    }
  }

  /** Pays at init what the first write costs before it is sent. Never fails, and writes nothing. */
  async prime(): Promise<void> {
    await this.#database.rehearse(this.#write({ id: 0n, name: '', tag: '' }));
  }

  #write({ id, name, tag }: NewPlant): PutItemCommand {
    return new PutItemCommand({
      TableName: this.#tableName,
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
