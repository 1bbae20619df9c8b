import { type TableId, tableLogicalId } from './table-keys.ts';

/** The output of the stack with the base URL. */
export const API_URL_OUTPUT = 'ApiUrl';

/** Returns the output of the stack with a table's name: `AccessTokensTableName` for `accessTokens`. */
export function tableNameOutput(id: TableId): string {
  return `${tableLogicalId(id)}Name`;
}
