import { digestOf } from './access-token.ts';
import { type DynamoDb, ONE_ATTEMPT, type Output, type RemainingTime } from './dynamodb.ts';
import { RememberedNames } from './remembered-names.ts';

/** No SHA-256 reads like this. */
const NO_DIGEST = 'none';

/** The access-token table as the function sees it: it can look a token up, nothing else. */
export class AccessTokensTable {
  readonly #dynamoDb: DynamoDb;
  readonly #tableName: string;
  readonly #remembered = new RememberedNames();

  constructor(dynamoDb: DynamoDb, tableName: string) {
    this.#dynamoDb = dynamoDb;
    this.#tableName = tableName;
  }

  /**
   * The name of a valid token; nothing for one that is unknown, expired or revoked. A revoked token
   * may pass for 60 s more where it was remembered. Throws as `DynamoDb.send` does.
   */
  async verify(token: string, time: RemainingTime): Promise<string | undefined> {
    const digest = digestOf(token);
    const now = Date.now();
    const known = this.#remembered.get(digest);
    if (known !== undefined) return known;
    const Item = await this.#read(digest, time);
    const name = Item?.['name']?.S;
    // The table's TTL removes an expired item only days later.
    const expiresAt = Number(Item?.['expiresAt']?.N ?? 0) * 1000;
    if (name === undefined || expiresAt <= now) return undefined;
    this.#remembered.set(digest, name, expiresAt);
    return name;
  }

  /**
   * Opens the connection and warms up the signer at init, where Lambda gives more CPU. Never fails: the first request
   * finds out if the database is unavailable.
   */
  async prime(): Promise<void> {
    await this.#read(NO_DIGEST, ONE_ATTEMPT).catch(() => {});
  }

  async #read(digest: string, time: RemainingTime): Promise<Output<'GetItem'>['Item']> {
    const read = {
      TableName: this.#tableName,
      Key: { digest: { S: digest } },
      ProjectionExpression: '#name, expiresAt',
      ExpressionAttributeNames: { '#name': 'name' },
      // An older replica could return a revoked token.
      ConsistentRead: true,
    };
    return (await this.#dynamoDb.send('GetItem', read, time)).Item;
  }
}
