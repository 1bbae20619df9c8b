/* The names and keys of the tables, which the stack and the local run create. */

/** The logical id of a table, and its name in the local run. In the stack, an output has its physical name. */
export const PLANTS_TABLE = 'PlantsTable';
export const ACCESS_TOKENS_TABLE = 'AccessTokensTable';

/** The partition key of each table: an attribute that is a number (`N`) or a string (`S`). */
export const PLANTS_KEY = { name: 'id', type: 'N' } as const;
export const ACCESS_TOKENS_KEY = { name: 'digest', type: 'S' } as const;
