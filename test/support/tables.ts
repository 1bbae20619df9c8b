import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import type { TableName } from '../../infra/table-keys.ts';

/** The logical ids of the tables. */
export const TABLES: Record<TableName, string> = {
  plants: 'PlantsTable',
  accessTokens: 'AccessTokensTable',
};

function withKey(AttributeName: string, AttributeType: 'N' | 'S'): Omit<CreateTableCommandInput, 'TableName'> {
  return {
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName, KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName, AttributeType }],
  };
}

/** The definition of each table, by its logical id. infra/stack.test.ts compares it with the template. */
export const TABLE_PROPERTIES = { [TABLES.plants]: withKey('id', 'N'), [TABLES.accessTokens]: withKey('digest', 'S') };
