import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { attributeValue } from '../shared/attribute-value.ts';
import type { Database } from '../shared/database.ts';
import { PlantStoreError } from '../shared/errors.ts';
import { type NewPlant, plantMembers } from './contract.generated.js';

/** DynamoDB's limit of an item, names included ("Constraints in Amazon DynamoDB"). */
const MAX_ITEM_BYTES = 400 * 1024;

/** The plants table as the function sees it: it can create a plant, nothing else. */
export class PlantsTable {
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
    const texts = plantMembers.map((member) => plant[member]).join('');
    if (Buffer.byteLength(texts) > MAX_ITEM_BYTES) throw tooLarge();
    const write = this.#write(plant);
    try {
      await this.#database.send(write, context);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        throw new PlantStoreError(409, `The id ${plant.id} is in use by a different plant; it must be a free one.`);
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

  #write(plant: NewPlant): PutItemCommand {
    const Item: Record<string, AttributeValue> = { id: { N: String(plant.id) } };
    const names: Record<string, string> = {};
    const values: Record<string, AttributeValue> = {};
    const alike = plantMembers.map((member, at) => {
      // By number, since a member's name may have characters that a placeholder may not.
      names[`#m${at}`] = member;
      const value = plant[member];
      if (value === undefined) return `attribute_not_exists(#m${at})`;
      Item[member] = values[`:m${at}`] = attributeValue(value);
      return `#m${at} = :m${at}`;
    });
    return new PutItemCommand({
      TableName: this.#tableName,
      Item,
      ConditionExpression: `attribute_not_exists(id) OR (${alike.join(' AND ')})`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    });
  }
}

function tooLarge(): PlantStoreError {
  return new PlantStoreError(413, 'The plant is too large; it must fit into an item of 400 KB.');
}
