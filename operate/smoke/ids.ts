import { hash } from 'node:crypto';
import type { Client } from '../client.ts';

/*
 * The ids that checks use follow from the client's token. So no other client can use them up beforehand, a broken version
 * cannot change or delete somebody's plant under them, and a token leaves the same plants however often it is used.
 */

const LOWEST = 2n ** 63n - 2n ** 52n;

/** The range of `idFor`: plants with such ids were created by a check. */
export const CHECK_IDS = `${LOWEST} to ${2n ** 63n - 1n}`;

/** Returns an id for a purpose. A JavaScript number rounds it and the next one to the same value. */
export function idFor(client: Client, purpose: string): bigint {
  return LOWEST + random42Bits(client, purpose) * 1024n + 1n;
}

/** Returns an id that a JavaScript number holds exactly, as it does a hundred times that id. */
export function safeIdFor(client: Client, purpose: string): bigint {
  return -(2n ** 45n) - random42Bits(client, purpose);
}

function random42Bits({ token }: Client, purpose: string): bigint {
  return hash('sha256', `${purpose} ${token}`, 'buffer').readBigUInt64BE() >> 22n;
}
