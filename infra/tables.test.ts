import { Match } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { defaultTemplate } from '../test/support/stack.ts';

const template = defaultTemplate();

test('both tables are on demand, recoverable to a point in time, encrypted and protected', () => {
  template.resourceCountIs('AWS::DynamoDB::Table', 2);
  template.allResourcesProperties('AWS::DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    // A key of the table’s own would cost, and every caller of the table would need it.
    SSESpecification: Match.exact({ SSEEnabled: true }),
    DeletionProtectionEnabled: true,
  });
  template.allResources('AWS::DynamoDB::Table', { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
});

test('a plant’s key is its id, a number; a token’s is its digest, with a TTL on its expiry', () => {
  template.hasResourceProperties('AWS::DynamoDB::Table', {
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
    TimeToLiveSpecification: Match.absent(),
  });
  template.hasResourceProperties('AWS::DynamoDB::Table', {
    KeySchema: [{ AttributeName: 'digest', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'digest', AttributeType: 'S' }],
    TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
  });
});

test('the tables keep their logical ids and key schemas, so that no update can replace them', () => {
  const tables = Object.entries(template.findResources('AWS::DynamoDB::Table'));
  expect(Object.fromEntries(tables.map(([id, { Properties }]) => [id, Properties.KeySchema]))).toEqual({
    DataPlants8CBE6BEF: [{ AttributeName: 'id', KeyType: 'HASH' }],
    DataAccessTokens854BD336: [{ AttributeName: 'digest', KeyType: 'HASH' }],
  });
  for (const [id, { Properties }] of tables) {
    // Each of these is replaced with its table.
    expect(Object.keys(Properties), id).not.toContain('TableName');
    expect(Object.keys(Properties), id).not.toContain('LocalSecondaryIndexes');
  }
});
