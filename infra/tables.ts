import { AttributeType, BillingMode, Table, TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';

export type TableName = 'plants' | 'accessTokens';
export type Tables = Record<TableName, Table>;

/** Creates the tables of the service. With `ephemeral`, they can be deleted. */
export function addTables(scope: Construct, { ephemeral }: { ephemeral: boolean }): Tables {
  const table = (id: string, props: TableProps) =>
    new Table(scope, id, {
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A customer managed key would cost money, and every role that uses the table would need access to it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !ephemeral,
      ...props,
    });
  return {
    // Attributes: `id`, `name` and, if the plant has one, `tag`.
    plants: table('Plants', { partitionKey: { name: 'id', type: AttributeType.NUMBER } }),
    // Attributes: `digest`, `name`, `createdAt` and `expiresAt`.
    accessTokens: table('AccessTokens', {
      partitionKey: { name: 'digest', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
    }),
  };
}
