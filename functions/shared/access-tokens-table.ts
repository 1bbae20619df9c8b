import { GetItemCommand, type GetItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { digestOf } from './access-token.ts';
import { type Database, primingTime, type RemainingTime } from './database.ts';
import { RememberedNames } from './remembered-names.ts';

/** No SHA-256 reads like this. */
const NO_DIGEST = 'none';

/** The access-token table as the function sees it: it can look a token up, nothing else. */
export class AccessTokensTable {
  readonly #database: Database;
  readonly #tableName: string;
  readonly #remembered = new RememberedNames();

  constructor(database: Database, tableName: string) {
    this.#database = database;
    this.#tableName = tableName;
  }

  /**
   * The name of a valid token; nothing for one that is unknown, expired or revoked. A revoked token
   * may pass for 60 s more where it was remembered. Throws as `Database.send` does.
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
   * Pays at init, where Lambda gives more CPU, what a first read costs: the connection, the signer, the
   * SDK's first serialisation. Never fails: a database that is down is met by the first request.
   */
  async prime(): Promise<void> {
    await this.#read(NO_DIGEST, primingTime()).catch(() => {});
  }

  async #read(digest: string, time: RemainingTime): Promise<GetItemCommandOutput['Item']> {
    const read = new GetItemCommand({
      TableName: this.#tableName,
      Key: { digest: { S: digest } },
      ProjectionExpression: '#name, expiresAt',
      ExpressionAttributeNames: { '#name': 'name' },
      // An older replica could let a revoked token be remembered anew.
      ConsistentRead: true,
    });
    return (await this.#database.send(read, time)).Item;
  }
}
