import { type Attribute, AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { type Action, type GrantedOperation, pascalCase } from './operations.ts';

export type TableName = 'plants' | 'accessTokens';

export interface NamedTable {
  name: TableName;
  table: Table;
  /** What the operations may do on it, each once. */
  actions: Action[];
}

/**
 * The plants and the access tokens, each in a table of its own.
 *
 * Defaults: on-demand billing, point-in-time recovery, encryption under the account's DynamoDB key;
 * deletion protection unless the stack is a throw-away one.
 */
export function createTables(scope: Construct, throwaway: boolean, operations: GrantedOperation[]): NamedTable[] {
  const table = (name: TableName, partitionKey: Attribute, timeToLiveAttribute?: string) => ({
    name,
    actions: [...new Set(operations.flatMap(({ grants }) => grants[name] ?? []))],
    table: new Table(scope, pascalCase(name), {
      partitionKey,
      ...(timeToLiveAttribute && { timeToLiveAttribute }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: !throwaway,
    }),
  });
  return [
    // Attributes `name` and, where the plant has one, `tag`.
    table('plants', { name: 'id', type: AttributeType.NUMBER }),
    // Attributes `name`, `createdAt` and `expiresAt`, from which the TTL counts.
    table('accessTokens', { name: 'digest', type: AttributeType.STRING }, 'expiresAt'),
  ];
}
