import type { DynamoDb } from '../dynamodb/client.ts';
import { invalidToken } from '../errors.ts';
import { digestOf, fromTokenItem, tokenKey } from './token.ts';

/** Valid tokens are cached for this time, so a revoked token stays valid for up to this time. */
export const CACHED_MS = 60_000;
const MAX_CACHED_TOKENS = 1000;

export class OpaqueTokenVerifier {
  readonly #dynamoDb: Pick<DynamoDb, 'call'>;
  readonly #tableName: string;
  /**
   * The valid tokens by their digests, in order of insertion. Invalid tokens are not cached, so they cannot evict valid
   * ones. An entry ends when one of two clocks says so: the system clock (`untilMs`, in milliseconds since 1970) can go
   * back, and the process's (`untilUptimeMs`) may stand still while Lambda freezes the environment.
   */
  readonly #cache = new Map<string, { name: string; untilMs: number; untilUptimeMs: number }>();

  constructor(dynamoDb: Pick<DynamoDb, 'call'>, tableName: string) {
    this.#dynamoDb = dynamoDb;
    this.#tableName = tableName;
  }

  /**
   * Returns the name of a valid token, for the log.
   *
   * @throws 401 for an unknown, expired or revoked token; the errors of `DynamoDb.call`.
   */
  async verify(token: string, timeoutMs: number): Promise<string> {
    const digest = digestOf(token);
    const cached = this.#cache.get(digest);
    if (cached && Date.now() < cached.untilMs && performance.now() < cached.untilUptimeMs) return cached.name;
    this.#cache.delete(digest);
    // The token can be revoked during the read, so its time in the cache begins before the read.
    const untilUptimeMs = performance.now() + CACHED_MS;
    const untilMs = Date.now() + CACHED_MS;
    const key = tokenKey(digest);
    // A consistent read. An eventually consistent one could return a revoked token.
    const read = { TableName: this.#tableName, Key: key, ConsistentRead: true };
    const { name, expiresAt } = fromTokenItem(await this.#dynamoDb.call('GetItem', read, key, timeoutMs));
    // The expiry is checked here, because the table's TTL deletes an expired item only days later.
    const isValid = name !== '' && expiresAt * 1000 > Date.now();
    if (!isValid) throw invalidToken('The access token is unknown, expired or revoked.');
    const [oldest = ''] = this.#cache.keys();
    if (this.#cache.size === MAX_CACHED_TOKENS) this.#cache.delete(oldest);
    this.#cache.set(digest, { name, untilMs: Math.min(untilMs, expiresAt * 1000), untilUptimeMs });
    return name;
  }
}
