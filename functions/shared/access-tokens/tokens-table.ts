import type { DynamoDb, TimeLimit } from '../dynamodb/client.ts';
import { invalidToken } from '../errors.ts';
import { digestOf, fromItem, keyOf, type StoredToken } from './token.ts';
import { CACHED_MS, TokenCache } from './token-cache.ts';

/** Time for the read in init, during which the database may be unavailable. */
const WARM_UP_MS = 1000;

/** Verifies opaque access tokens by a look-up in the access token table. */
export class TokensTable {
  readonly #dynamoDb: DynamoDb;
  readonly #tableName: string;
  readonly #cache = new TokenCache();

  constructor(dynamoDb: DynamoDb, tableName: string) {
    this.#dynamoDb = dynamoDb;
    this.#tableName = tableName;
  }

  /**
   * Returns the name of a valid token. Valid tokens are cached, so a revoked token stays valid for up to CACHED_MS.
   *
   * @param token of the form TOKEN_PATTERN
   * @throws 401 for an unknown, expired or revoked token; the errors of `DynamoDb.send`.
   */
  async verify(token: string, limit: TimeLimit): Promise<string> {
    const digest = digestOf(token);
    const cached = this.#cache.get(digest);
    if (cached !== undefined) return cached;
    const beforeRead = Date.now();
    const { name, expiresAt } = await this.#read(digest, limit);
    // The table's TTL deletes an expired item only days later.
    if (name === '' || expiresAt * 1000 <= Date.now()) {
      throw invalidToken('The access token is unknown, expired or revoked.');
    }
    // The token can be revoked during the read, so its time in the cache begins before the read.
    this.#cache.set(digest, name, Math.min(beforeRead + CACHED_MS, expiresAt * 1000));
    return name;
  }

  /**
   * Opens the connection and warms up the signer at init, where Lambda gives more CPU. It reads a digest that no token
   * has, and never throws: if the database is unavailable, the first request fails.
   */
  async warmUp(): Promise<void> {
    await this.#read('none', WARM_UP_MS).catch(() => {});
  }

  async #read(digest: string, limit: TimeLimit): Promise<StoredToken> {
    // Otherwise DynamoDB could return a token that was just revoked.
    const read = { TableName: this.#tableName, Key: keyOf(digest), ConsistentRead: true };
    return fromItem((await this.#dynamoDb.send('GetItem', read, limit)).Item);
  }
}
