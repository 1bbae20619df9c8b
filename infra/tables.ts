import {
  AttributeType,
  BillingMode,
  type CfnTable,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { type Keys, type TableName, tableId, tableKeys } from './table-keys.ts';

export type Tables = Record<TableName, Table>;

const ATTRIBUTE_TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER };

/** Creates the tables of the service. With `ephemeral`, they can be deleted. */
export function addTables(scope: Construct, { ephemeral }: { ephemeral: boolean }): Tables {
  function addTable(name: TableName, props: Partial<TableProps> = {}): Table {
    const { indexes = {}, ...keys } = tableKeys[name];
    const table = new Table(scope, tableId(name), {
      ...keyProps(keys),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A customer managed key would cost money, and every role that uses the table would need access to it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !ephemeral,
      ...props,
    });
    for (const [indexName, indexKeys] of Object.entries(indexes)) {
      table.addGlobalSecondaryIndex({ indexName, ...keyProps(indexKeys) });
    }
    // Restoring a table names it, and CloudFormation replaces a table whose logical id changes.
    (table.node.defaultChild as CfnTable).overrideLogicalId(tableId(name));
    return table;
  }
  return {
    plants: addTable('plants'),
    accessTokens: addTable('accessTokens', { timeToLiveAttribute: 'expiresAt' }),
  };
}

function keyProps({ partitionKey, sortKey }: Keys) {
  const attribute = ({ name, type }: Keys['partitionKey']) => ({ name, type: ATTRIBUTE_TYPES[type] });
  return { partitionKey: attribute(partitionKey), ...(sortKey && { sortKey: attribute(sortKey) }) };
}
