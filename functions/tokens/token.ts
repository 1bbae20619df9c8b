import { hash, randomInt } from 'node:crypto';

/** An opaque access token is this prefix, for secret scanners, and 43 random letters or digits (256 bits). */
const TOKEN_PREFIX = 'plantstore_';
const RANDOM_CHARACTERS = 43;
export const TOKEN_FORM = `"${TOKEN_PREFIX}" and ${RANDOM_CHARACTERS} letters or digits`;
export const TOKEN_PATTERN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${RANDOM_CHARACTERS}}$`);
/** The form of a JWT: three base64url parts. The verifier rejects an empty signature, the third part. */
export const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** A token of the right form that is never issued. */
export const UNKNOWN_TOKEN = TOKEN_PREFIX + '0'.repeat(RANDOM_CHARACTERS);
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The stored data of a token, which do not include the token itself. The times are in seconds since 1970. */
export interface StoredToken {
  /** SHA-256 of the token, 64 hex digits; the partition key. */
  digest: string;
  name: string;
  createdAt: number;
  expiresAt: number;
}

export type TokenItem = Record<'digest' | 'name', { S: string }> & Record<'createdAt' | 'expiresAt', { N: string }>;

/** Creates a random token and its item, and does not store it. */
export function newToken(name: string, createdAt: number, expiresAt: number) {
  const characters = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const token = TOKEN_PREFIX + characters.join('');
  return { token, item: tokenItem(token, name, createdAt, expiresAt) };
}

export function tokenItem(token: string, name: string, createdAt: number, expiresAt: number): TokenItem {
  return {
    ...tokenKey(digestOf(token)),
    name: { S: name },
    createdAt: { N: String(createdAt) },
    expiresAt: { N: String(expiresAt) },
  };
}

/** Reads an item. A missing text is an empty string, and a missing number is 0. */
export function fromTokenItem(item: Partial<Record<keyof StoredToken, { S?: string; N?: string }>> = {}): StoredToken {
  const { digest, name, createdAt, expiresAt } = item;
  return {
    digest: digest?.S ?? '',
    name: typeof name?.S === 'string' ? name.S : '',
    createdAt: Number(createdAt?.N ?? 0),
    expiresAt: Number(expiresAt?.N ?? 0),
  };
}

export function tokenKey(digest: string): Pick<TokenItem, 'digest'> {
  return { digest: { S: digest } };
}

export function digestOf(token: string): string {
  return hash('sha256', token);
}
