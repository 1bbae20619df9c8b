import { randomInt } from 'node:crypto';
import { DeleteItemCommand, type DynamoDBClient, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { ACCESS_TOKEN_PREFIX, type AccessTokenItem, digestOf } from '../functions/shared/access-token.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 43;

/** The access-token table as its owner sees it: issues, lists and withdraws. */
export class AccessTokens {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;

  constructor(client: DynamoDBClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * Issues a token under a free name and returns it, the only time that it is seen.
   * Times are in seconds since 1970. Throws where the name is in use.
   */
  async create(name: string, createdAt: number, expiresAt: number): Promise<string> {
    if ((await this.list()).some((item) => item.name === name)) {
      throw new Error(`The name "${name}" is in use; revoke that token first, or choose another name.`);
    }
    const token =
      ACCESS_TOKEN_PREFIX +
      Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    await this.#client.send(
      new PutItemCommand({
        TableName: this.#tableName,
        Item: {
          digest: { S: digestOf(token) },
          name: { S: name },
          createdAt: { N: String(createdAt) },
          expiresAt: { N: String(expiresAt) },
        },
      }),
    );
    return token;
  }

  /** All tokens, expired ones included until the table's TTL removes them, by name. */
  async list(): Promise<AccessTokenItem[]> {
    const items: AccessTokenItem[] = [];
    const scan = { TableName: this.#tableName, ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client: this.#client }, scan)) {
      for (const { digest, name, createdAt, expiresAt } of Items) {
        items.push({
          digest: digest?.S ?? '',
          name: name?.S ?? '',
          createdAt: Number(createdAt?.N),
          expiresAt: Number(expiresAt?.N),
        });
      }
    }
    return items.toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** Withdraws the tokens of a name. Throws where there is none. */
  async revoke(name: string): Promise<void> {
    const named = (await this.list()).filter((item) => item.name === name);
    if (named.length === 0) throw new Error(`There is no token named "${name}".`);
    for (const { digest } of named) {
      await this.#client.send(new DeleteItemCommand({ TableName: this.#tableName, Key: { digest: { S: digest } } }));
    }
  }
}
