import type { CfnTable, TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { TokenItem } from '../functions/tokens/token.ts';
import { type TableId, tableKeys, tableLogicalId } from './data/table-keys.ts';

export type Tables = Record<TableId, Table>;

/** Creates the tables of the service. With `ephemeral`, they can be deleted. */
export function addTables(scope: Construct, { ephemeral }: { ephemeral: boolean }): Tables {
  function addTable(id: TableId, props: Partial<TableProps> = {}): Table {
    const { name, type } = tableKeys[id];
    const table = new Table(scope, tableLogicalId(id), {
      partitionKey: { name, type: type === 'N' ? AttributeType.NUMBER : AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A customer managed key would cost money, and every role that uses the table would need access to it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !ephemeral,
      ...props,
    });
    // CloudFormation replaces a table whose logical id changes.
    (table.node.defaultChild as CfnTable).overrideLogicalId(tableLogicalId(id));
    return table;
  }
  return {
    plants: addTable('plants'),
    accessTokens: addTable('accessTokens', { timeToLiveAttribute: 'expiresAt' satisfies keyof TokenItem }),
  };
}
