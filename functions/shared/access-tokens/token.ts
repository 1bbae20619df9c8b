import { hash, randomInt } from 'node:crypto';

/** An access token is a prefix, for secret scanners, and 43 random letters or digits (256 bits). */
const PREFIX = 'plantstore_';
export const ACCESS_TOKEN_PATTERN = /^plantstore_[0-9A-Za-z]{43}$/;

/** An item of the access token table. The token itself is not stored. */
export interface AccessTokenItem {
  /** SHA-256 of the token, 64 hex digits; the partition key. */
  digest: string;
  name: string;
  /** Seconds since 1970. */
  createdAt: number;
  /** Seconds since 1970. From then on the token is rejected; later the table's TTL deletes the item. */
  expiresAt: number;
}

const RANDOM_CHARACTERS = 43;
/** A token of the right form that is never issued. */
export const UNKNOWN_TOKEN = PREFIX + '0'.repeat(RANDOM_CHARACTERS);
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Creates a random token and its item, and does not store it. Times are in seconds since 1970. */
export function newToken(name: string, createdAt: number, expiresAt: number) {
  const characters = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const token = PREFIX + characters.join('');
  const item = {
    digest: { S: digestOf(token) },
    name: { S: name },
    createdAt: { N: String(createdAt) },
    expiresAt: { N: String(expiresAt) },
  };
  return { token, item };
}

export function digestOf(token: string): AccessTokenItem['digest'] {
  return hash('sha256', token);
}
