import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

interface DataProps {
  removalPolicy: RemovalPolicy;
}

/**
 * The plants and the access tokens, each in a table of its own.
 *
 * Defaults: on-demand billing, point-in-time recovery, encryption under the account's DynamoDB key;
 * deletion protection unless the removal policy is DESTROY.
 */
export class Data extends Construct {
  /** Key `id`; attributes `name` and, where the plant has one, `tag`. */
  readonly plants: Table;
  /** Key `digest`; attributes `name`, `createdAt` and `expiresAt`, from which the TTL counts. */
  readonly accessTokens: Table;

  constructor(scope: Construct, id: string, { removalPolicy }: DataProps) {
    super(scope, id);
    const table = (tableId: string, partitionKey: Attribute, timeToLiveAttribute?: string) =>
      new Table(this, tableId, {
        partitionKey,
        ...(timeToLiveAttribute && { timeToLiveAttribute }),
        billingMode: BillingMode.PAY_PER_REQUEST,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        encryption: TableEncryption.AWS_MANAGED,
        deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
        removalPolicy,
      });
    this.plants = table('Plants', { name: 'id', type: AttributeType.NUMBER });
    this.accessTokens = table('AccessTokens', { name: 'digest', type: AttributeType.STRING }, 'expiresAt');
  }
}
