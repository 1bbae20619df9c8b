import type { DynamoDb } from '../dynamodb/client.ts';
import { invalidToken } from '../errors.ts';
import { digestOf, fromTokenItem, type StoredToken, tokenKey } from './token.ts';
import { CACHED_MS, TokenCache } from './token-cache.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Time limit of the read in init, because the database can be unavailable then. */
const WARM_UP_MS = 1000;

/** Verifies opaque access tokens by a look-up in the access token table. */
export class OpaqueTokenVerifier implements TokenVerifier {
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
   * @throws 401 for an unknown, expired or revoked token; the errors of `DynamoDb.call`.
   */
  async verify(token: string, timeoutMs: number): Promise<string> {
    const digest = digestOf(token);
    const cached = this.#cache.get(digest);
    if (cached !== undefined) return cached;
    const beforeRead = Date.now();
    const { name, expiresAt } = await this.#read(digest, timeoutMs);
    // The table's TTL deletes an expired item only days later.
    if (name === '' || expiresAt * 1000 <= Date.now()) {
      throw invalidToken('The access token is unknown, expired or revoked.');
    }
    // The token can be revoked during the read, so its time in the cache begins before the read.
    this.#cache.set(digest, name, Math.min(beforeRead + CACHED_MS, expiresAt * 1000));
    return name;
  }

  /**
   * Opens the connection and warms up the signer: reads a digest that no token has. If the database fails, the first
   * request opens the connection.
   */
  async warmUp(): Promise<void> {
    await this.#read('none', WARM_UP_MS).catch(() => {});
  }

  async #read(digest: string, timeoutMs: number): Promise<StoredToken> {
    // A consistent read. An eventually consistent one could return a revoked token.
    const read = { TableName: this.#tableName, Key: tokenKey(digest), ConsistentRead: true };
    return fromTokenItem((await this.#dynamoDb.call('GetItem', read, timeoutMs)).Item);
  }
}
