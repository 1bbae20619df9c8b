import { AttributeType, BillingMode, Table, TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';

export type TableName = 'plants' | 'accessTokens';
export type Tables = Record<TableName, Table>;

/** Makes the tables of the service. `throwaway` allows their deletion. */
export function addTables(scope: Construct, { throwaway }: { throwaway: boolean }): Tables {
  const table = (id: string, props: TableProps) =>
    new Table(scope, id, {
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A key of the table's own would cost money, and every client of the table would need it.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !throwaway,
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
