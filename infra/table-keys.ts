import type { TableVariable } from '../functions/shared/environment.ts';

/** The keys and indexes of a table, as in CreateTable ("Amazon DynamoDB API Reference") and in a template. */
interface TableKeys {
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' }[];
  KeySchema: KeySchema;
  /** @default none */
  GlobalSecondaryIndexes?: { IndexName: string; KeySchema: KeySchema; Projection: { ProjectionType: 'ALL' } }[];
}

type PartitionKey = { AttributeName: string; KeyType: 'HASH' };
type SortKey = { AttributeName: string; KeyType: 'RANGE' };
export type KeySchema = [PartitionKey] | [PartitionKey, SortKey];

/** The name of a table in the code. Its physical name, `tableName`, differs in each deployed stack. */
export type TableId = 'plants' | 'accessTokens';

/** The tables. The CDK code and the local run both create them from this. */
export const tableKeys: Record<TableId, TableKeys> = {
  plants: withKey('id', 'N'),
  accessTokens: withKey('digest', 'S'),
};

function withKey(AttributeName: string, AttributeType: 'S' | 'N'): TableKeys {
  return {
    AttributeDefinitions: [{ AttributeName, AttributeType }],
    KeySchema: [{ AttributeName, KeyType: 'HASH' }],
  };
}

export const tableIds = Object.keys(tableKeys) as TableId[];

/** Returns a table's logical id, which is also its name in the local run: `AccessTokensTable` for `accessTokens`. */
export function tableLogicalId(id: TableId): string {
  return `${id.charAt(0).toUpperCase()}${id.slice(1)}Table`;
}

/** Returns the environment variable that contains a table's physical name: `ACCESS_TOKENS_TABLE_NAME` for `accessTokens`. */
export function tableVariable(id: TableId): TableVariable {
  return `${id.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}_TABLE_NAME`;
}

/** Returns the output of the stack with a table's physical name: `AccessTokensTableName` for `accessTokens`. */
export function tableOutput(id: TableId): string {
  return `${tableLogicalId(id)}Name`;
}
