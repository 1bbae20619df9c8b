import type { TableVariable } from '../../functions/environment.ts';

/** A partition key: an attribute that is a number (`N`) or a string (`S`). */
interface Key {
  name: string;
  type: 'N' | 'S';
}

/** The name of a table in the code. Its physical name, `tableName`, differs in each deployed stack. */
export type TableId = 'plants' | 'accessTokens';

/** The partition key of each table. The CDK code and the local run both create the tables from this. */
export const tableKeys: Record<TableId, Key> = {
  plants: { name: 'id', type: 'N' },
  accessTokens: { name: 'digest', type: 'S' },
};

export const tableIds = Object.keys(tableKeys) as TableId[];

/** Returns a table's logical id, which is also its name in the local run: `AccessTokensTable` for `accessTokens`. */
export function tableLogicalId(id: TableId): string {
  return `${id.charAt(0).toUpperCase()}${id.slice(1)}Table`;
}

/**
 * Returns the environment variable that contains a table's physical name: `ACCESS_TOKENS_TABLE_NAME` for
 * `accessTokens`.
 */
export function tableVariable(id: TableId): TableVariable {
  return `${id.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}_TABLE_NAME`;
}

/** Returns the output of the stack with a table's physical name: `AccessTokensTableName` for `accessTokens`. */
export function tableOutput(id: TableId): string {
  return `${tableLogicalId(id)}Name`;
}
