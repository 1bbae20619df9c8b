import {
  AttributeType,
  BillingMode,
  type CfnTable,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';

export type TableName = 'plants' | 'accessTokens';
export type Tables = Record<TableName, Table>;

/** Creates the tables of the service. With `ephemeral`, they can be deleted. */
export function addTables(scope: Construct, { ephemeral }: { ephemeral: boolean }): Tables {
  function addTable(id: string, props: TableProps): Table {
    const table = new Table(scope, id, {
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A customer managed key would cost money, and every role that uses the table would need access to it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !ephemeral,
      ...props,
    });
    // Restoring a table names it, and CloudFormation replaces a table whose logical id changes.
    (table.node.defaultChild as CfnTable).overrideLogicalId(`${id}Table`);
    return table;
  }
  return {
    // Attributes: `id`, `name` and, if the plant has one, `tag`.
    plants: addTable('Plants', { partitionKey: { name: 'id', type: AttributeType.NUMBER } }),
    // Attributes: `digest`, `name`, `createdAt` and `expiresAt`.
    accessTokens: addTable('AccessTokens', {
      partitionKey: { name: 'digest', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
    }),
  };
}
