/*
 * Replaces node:http in the bundle. Loading node:http takes 2 ms, and 15 ms from an ESM import, which loads undici
 * (nodejs/node issue 59686). Only @middy/util imports it, for the names of its errors, which we never show.
 */
export const STATUS_CODES: Record<number, string> = {};
