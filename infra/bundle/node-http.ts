/*
 * Replaces node:http in the bundle, which takes 2 ms to load, and 15 ms by an ESM import, since that loads undici
 * (nodejs/node issue 59686). Only @middy/util imports it, for the names of its errors, which nothing shows.
 */
export const STATUS_CODES: Record<number, string> = {};
