import { expect, test } from 'vitest';
import { propertiesOf, TABLES, templateWith } from '../test/support/stack.ts';

const COMMON = {
  BillingMode: 'PAY_PER_REQUEST',
  PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  // A key of the table's own would cost money, and every client of the table would need it.
  SSESpecification: { SSEEnabled: true },
  DeletionProtectionEnabled: true,
};

// `toEqual`, because CloudFormation replaces a table whose logical id, name or key schema changes.
test('the tables are on demand, recoverable to a point in time, encrypted and protected', () => {
  expect(propertiesOf(templateWith({}), 'AWS::DynamoDB::Table')).toEqual({
    [TABLES.plants]: {
      ...COMMON,
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
    },
    [TABLES.accessTokens]: {
      ...COMMON,
      KeySchema: [{ AttributeName: 'digest', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'digest', AttributeType: 'S' }],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    },
  });
});
