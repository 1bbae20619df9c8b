import type { CfnTable, TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { AccessTokenItem } from '../functions/shared/access-tokens/token.ts';
import { type KeySchema, type TableId, tableKeys, tableLogicalId } from './table-keys.ts';

export type Tables = Record<TableId, Table>;

/** Creates the tables of the service. With `ephemeral`, they can be deleted. */
export function addTables(scope: Construct, { ephemeral }: { ephemeral: boolean }): Tables {
  function addTable(id: TableId, props: Partial<TableProps> = {}): Table {
    const { KeySchema, GlobalSecondaryIndexes = [] } = tableKeys[id];
    const table = new Table(scope, tableLogicalId(id), {
      ...keys(id, KeySchema),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A customer managed key would cost money, and every role that uses the table would need access to it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !ephemeral,
      ...props,
    });
    for (const { IndexName, KeySchema: schema } of GlobalSecondaryIndexes) {
      table.addGlobalSecondaryIndex({ indexName: IndexName, ...keys(id, schema) });
    }
    // Restoring a table names it, and CloudFormation replaces a table whose logical id changes.
    (table.node.defaultChild as CfnTable).overrideLogicalId(tableLogicalId(id));
    return table;
  }
  return {
    plants: addTable('plants'),
    accessTokens: addTable('accessTokens', { timeToLiveAttribute: 'expiresAt' satisfies keyof AccessTokenItem }),
  };
}

function keys(id: TableId, [partitionKey, sortKey]: KeySchema) {
  const attribute = (name: string) => {
    const definition = tableKeys[id].AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return { name, type: definition?.AttributeType === 'N' ? AttributeType.NUMBER : AttributeType.STRING };
  };
  return {
    partitionKey: attribute(partitionKey.AttributeName),
    ...(sortKey && { sortKey: attribute(sortKey.AttributeName) }),
  };
}
