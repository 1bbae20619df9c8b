import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { digestOf } from './access-token.ts';
import { callStore } from './dynamodb.ts';

const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 1000;

interface VerifiedToken {
  name: string;
  /** Milliseconds since 1970. */
  rememberedUntil: number;
}

/** The access-token table as the function sees it: it can look a token up, nothing else. */
export class AccessTokenStore {
  readonly #dynamoDb: DynamoDBClient;
  readonly #tableName: string;
  /** By digest, the longest remembered first. Only valid tokens, so that guesses cannot push them out. */
  readonly #remembered = new Map<string, VerifiedToken>();

  constructor(dynamoDb: DynamoDBClient, tableName: string) {
    this.#dynamoDb = dynamoDb;
    this.#tableName = tableName;
  }

  /**
   * The name of a valid token; nothing for one that is unknown, expired or revoked. A revoked token
   * may pass for 60 s more where it was remembered. Throws as `callStore` does.
   */
  async verify(token: string, context: Context): Promise<string | undefined> {
    const digest = digestOf(token);
    const now = Date.now();
    const known = this.#remembered.get(digest);
    if (known && now < known.rememberedUntil) return known.name;
    this.#remembered.delete(digest);
    const read = new GetItemCommand({
      TableName: this.#tableName,
      ReturnConsumedCapacity: 'TOTAL',
      Key: { digest: { S: digest } },
      ProjectionExpression: '#name, expiresAt',
      ExpressionAttributeNames: { '#name': 'name' },
      // An older replica could let a revoked token be remembered anew.
      ConsistentRead: true,
    });
    const { Item } = await callStore(context, (options) => this.#dynamoDb.send(read, options));
    const name = Item?.['name']?.S;
    // The table's TTL removes an expired item only days later.
    const expiresAt = Number(Item?.['expiresAt']?.N ?? 0) * 1000;
    if (name === undefined || expiresAt <= now) return undefined;
    this.#remember(digest, { name, rememberedUntil: Math.min(now + REMEMBERED_MS, expiresAt) });
    return name;
  }

  #remember(digest: string, token: VerifiedToken): void {
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined && this.#remembered.size >= MOST_REMEMBERED) this.#remembered.delete(oldest);
    this.#remembered.set(digest, token);
  }
}
