import type { DynamoDb } from '../dynamodb/client.ts';
import { invalidTokenError } from '../errors.ts';
import { type Moment, millisecondsSince, now } from './clocks.ts';
import { digestOf, fromTokenItem, tokenKey } from './token.ts';

/** Valid tokens are cached for this time, so a revoked token stays valid for up to this time. */
export const CACHED_MS = 60_000;
const MAX_CACHED_TOKENS = 1000;

export class OpaqueTokenVerifier {
  readonly #dynamoDb: Pick<DynamoDb, 'call'>;
  readonly #tableName: string;
  /**
   * The valid tokens by their digests, in order of insertion. Invalid tokens are not cached, so they cannot evict valid
   * ones. `expiresAt` is in seconds since 1970.
   */
  readonly #cache = new Map<string, { name: string; expiresAt: number; readAt: Moment }>();

  constructor(dynamoDb: Pick<DynamoDb, 'call'>, tableName: string) {
    this.#dynamoDb = dynamoDb;
    this.#tableName = tableName;
  }

  /** Returns the name of a valid token. Throws 401 for any other, and the errors of `DynamoDb.call`. */
  async verify(token: string, timeoutMs: number): Promise<string> {
    const digest = digestOf(token);
    const cached = this.#cache.get(digest);
    if (cached && isInFuture(cached.expiresAt) && millisecondsSince(cached.readAt) < CACHED_MS) return cached.name;
    this.#cache.delete(digest);
    // The token can be revoked during the read, so its time in the cache begins before the read.
    const readAt = now();
    const key = tokenKey(digest);
    // A consistent read. An eventually consistent one could return a revoked token.
    const read = { TableName: this.#tableName, Key: key, ConsistentRead: true };
    const { name, expiresAt } = fromTokenItem(await this.#dynamoDb.call('GetItem', read, key, timeoutMs));
    // The expiry is checked here, because the table's TTL deletes an expired item only days later.
    const isValid = name !== '' && isInFuture(expiresAt);
    if (!isValid) throw invalidTokenError('The access token is unknown, expired or revoked.');
    const [oldest = ''] = this.#cache.keys();
    if (this.#cache.size === MAX_CACHED_TOKENS) this.#cache.delete(oldest);
    this.#cache.set(digest, { name, expiresAt, readAt });
    return name;
  }
}

function isInFuture(secondsSince1970: number): boolean {
  return secondsSince1970 * 1000 > Date.now();
}
