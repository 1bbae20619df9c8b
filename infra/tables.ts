import { AttributeType, BillingMode, type CfnTable, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { TokenItem } from '../functions/tokens/token.ts';
import type { CompleteSettings } from './settings.ts';
import {
  ACCESS_TOKENS_KEY,
  ACCESS_TOKENS_TABLE,
  PLANTS_KEY,
  PLANTS_TABLE,
} from './shared-with-local-run/table-keys.ts';

export interface Tables {
  plants: Table;
  accessTokens: Table;
}

/** Creates the two tables. With `ephemeral`, they can be deleted. */
export function addTables(
  scope: Construct,
  { ephemeral, requestsPerSecond }: Pick<CompleteSettings, 'ephemeral' | 'requestsPerSecond'>,
): Tables {
  const common = {
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    // A customer managed key would cost money, and every role that uses the table would need access to it.
    encryption: TableEncryption.AWS_MANAGED,
    deletionProtection: !ephemeral,
  };
  const plants = new Table(scope, PLANTS_TABLE, {
    ...common,
    partitionKey: { name: PLANTS_KEY.name, type: AttributeType.NUMBER },
    // Limits what a client can cost: 20 KB for each request on average, although one plant can have 400 KB. A limit
    // below 399 might always reject the largest plant. DynamoDB accepts less than 40,000 ("DynamoDB maximum
    // throughput for on-demand tables").
    maxWriteRequestUnits: Math.min(Math.max(requestsPerSecond * 20, 1000), 39_999),
  });
  const accessTokens = new Table(scope, ACCESS_TOKENS_TABLE, {
    ...common,
    partitionKey: { name: ACCESS_TOKENS_KEY.name, type: AttributeType.STRING },
    timeToLiveAttribute: 'expiresAt' satisfies keyof TokenItem,
  });
  // CloudFormation replaces a table whose logical id changes. CDK's own ids change with the construct's path.
  (plants.node.defaultChild as CfnTable).overrideLogicalId(PLANTS_TABLE);
  (accessTokens.node.defaultChild as CfnTable).overrideLogicalId(ACCESS_TOKENS_TABLE);
  return { plants, accessTokens };
}
