import {
  AttributeType,
  BillingMode,
  type CfnTable,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { AccessTokenItem } from '../functions/shared/access-tokens/token.ts';
import { type KeySchema, type TableName, tableId, tableKeys } from './table-keys.ts';

export type Tables = Record<TableName, Table>;

/** Creates the tables of the service. With `ephemeral`, they can be deleted. */
export function addTables(scope: Construct, { ephemeral }: { ephemeral: boolean }): Tables {
  function addTable(name: TableName, props: Partial<TableProps> = {}): Table {
    const { KeySchema, GlobalSecondaryIndexes = [] } = tableKeys[name];
    const table = new Table(scope, tableId(name), {
      ...keys(name, KeySchema),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A customer managed key would cost money, and every role that uses the table would need access to it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !ephemeral,
      ...props,
    });
    for (const { IndexName, KeySchema: schema } of GlobalSecondaryIndexes) {
      table.addGlobalSecondaryIndex({ indexName: IndexName, ...keys(name, schema) });
    }
    // Restoring a table names it, and CloudFormation replaces a table whose logical id changes.
    (table.node.defaultChild as CfnTable).overrideLogicalId(tableId(name));
    return table;
  }
  return {
    plants: addTable('plants'),
    accessTokens: addTable('accessTokens', { timeToLiveAttribute: 'expiresAt' satisfies keyof AccessTokenItem }),
  };
}

function keys(table: TableName, [partitionKey, sortKey]: KeySchema) {
  const attribute = (name: string) => {
    const definition = tableKeys[table].AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return { name, type: definition?.AttributeType === 'N' ? AttributeType.NUMBER : AttributeType.STRING };
  };
  return {
    partitionKey: attribute(partitionKey.AttributeName),
    ...(sortKey && { sortKey: attribute(sortKey.AttributeName) }),
  };
}
