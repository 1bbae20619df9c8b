import { AttributeType, BillingMode, Table, TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

export type TableName = 'plants' | 'accessTokens';

interface TablesProps {
  /** Allows the deletion of the tables. @default false */
  throwaway?: boolean;
}

/**
 * The tables of the service.
 *
 * @default on-demand billing, point-in-time recovery, encryption with the account's DynamoDB key, deletion protection
 */
export class Tables extends Construct {
  readonly byName: Record<TableName, Table>;

  constructor(scope: Construct, id: string, { throwaway = false }: TablesProps) {
    super(scope, id);
    const table = (id: string, props: TableProps) =>
      new Table(this, id, {
        billingMode: BillingMode.PAY_PER_REQUEST,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        encryption: TableEncryption.AWS_MANAGED,
        deletionProtection: !throwaway,
        ...props,
      });
    this.byName = {
      // Attributes: `id`, `name` and, if the plant has one, `tag`.
      plants: table('Plants', { partitionKey: { name: 'id', type: AttributeType.NUMBER } }),
      // Attributes: `digest`, `name`, `createdAt` and `expiresAt`.
      accessTokens: table('AccessTokens', {
        partitionKey: { name: 'digest', type: AttributeType.STRING },
        timeToLiveAttribute: 'expiresAt',
      }),
    };
  }
}
