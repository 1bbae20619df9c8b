import { hash } from 'node:crypto';
import type { Client } from './client.ts';

/*
 * Checks derive their ids from the client's token. So no other client can create plants with them first, a broken version
 * cannot change or delete somebody's plant, and a token leaves the same plants however often it is used.
 */

const LOWEST = 2n ** 63n - 2n ** 52n;

/** Checks use ids in this range, and the same ids with a minus. */
export const CHECK_IDS = `${LOWEST} to ${2n ** 63n - 1n}`;

/** Returns an id for a purpose, for which `Number(id)` equals `Number(id + 1n)`. */
export function idFor(client: Client, purpose: string): bigint {
  return LOWEST + random42Bits(client, purpose) * 1024n + 1n;
}

/** Returns an id that is a safe integer, as is a hundred times that id. */
export function safeIdFor(client: Client, purpose: string): bigint {
  return -(2n ** 45n) - random42Bits(client, purpose);
}

function random42Bits({ token }: Client, purpose: string): bigint {
  return hash('sha256', `${purpose} ${token}`, 'buffer').readBigUInt64BE() >> 22n;
}
