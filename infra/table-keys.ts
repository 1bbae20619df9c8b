/** The names, keys and indexes of the tables. The CDK code and the local run both create the tables from them. */

interface Attribute {
  name: string;
  /** String or number. */
  type: 'S' | 'N';
}

export interface Keys {
  partitionKey: Attribute;
  sortKey?: Attribute;
}

interface TableKeys extends Keys {
  /** The global secondary indexes by name. They contain all attributes. @default none */
  indexes?: Record<string, Keys>;
}

export type TableName = 'plants' | 'accessTokens';

export const tableKeys: Record<TableName, TableKeys> = {
  // Other attributes: `name` and, if the plant has one, `tag`.
  plants: { partitionKey: { name: 'id', type: 'N' } },
  // Other attributes: `name`, `createdAt` and `expiresAt`.
  accessTokens: { partitionKey: { name: 'digest', type: 'S' } },
};

export const tableNames = Object.keys(tableKeys) as TableName[];

/** Returns a table's logical id, which is also its name in the local run: `AccessTokensTable` for `accessTokens`. */
export function tableId(name: TableName): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Table`;
}

/** Returns the environment variable that contains a table's name: `ACCESS_TOKENS_TABLE_NAME` for `accessTokens`. */
export function tableVariable(name: TableName): string {
  return `${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}_TABLE_NAME`;
}
