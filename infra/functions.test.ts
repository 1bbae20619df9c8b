import { expect, test } from 'vitest';

import { permissionsOf } from '../test/support/permissions.ts';
import { allOperations, createPlant, functionOf, propertiesOf, templateWith, textOf } from '../test/support/stack.ts';
import { type TableId, tableLogicalId } from './data/table-keys.ts';
import type { GrantedOperation } from './functions.ts';

const template = templateWith({});
const tokenReader: GrantedOperation = { ...createPlant, grants: { accessTokens: ['GetItem'] } };

const VARIABLES: Record<TableId, string> = { plants: 'PLANTS_TABLE_NAME', accessTokens: 'ACCESS_TOKENS_TABLE_NAME' };

test('each function has its own role, and its own JSON log, which is kept for one month', () => {
  const functions = Object.values(propertiesOf(template, 'AWS::Lambda::Function'));
  for (const { LoggingConfig } of functions) {
    // No log level is set: a level above INFO would drop the lines that metrics count.
    expect(LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } });
    expect(propertiesOf(template, 'AWS::Logs::LogGroup')[LoggingConfig.LogGroup.Ref]).toEqual({ RetentionInDays: 30 });
  }
  const count = allOperations.length;
  expect(new Set(functions.map(({ Role }) => Role['Fn::GetAtt'][0])).size).toBe(count);
  expect(new Set(functions.map(({ LoggingConfig }) => LoggingConfig.LogGroup.Ref)).size).toBe(count);
});

test.each(allOperations)('$operationId runs on Node.js 24 and arm64', (operation) => {
  expect(functionOf(template, operation).properties).toMatchObject({
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    // With less memory, a cold start takes several times longer. With more, it still waits for DynamoDB.
    MemorySize: 512,
    Timeout: 10,
  });
});

test.each([
  ...allOperations.map((operation) => ({ operation, stack: template })),
  { operation: tokenReader, stack: templateWith({}, [tokenReader]) },
])('$operation.operationId has the permissions and table names of its grants $operation.grants', (granted) => {
  const { operation, stack } = granted;
  const { properties, roleId, logGroup } = functionOf(stack, operation);
  const grants = Object.entries(operation.grants) as [TableId, string[]][];
  // An operation can add other permissions and variables.
  const permissions = permissionsOf(stack.toJSON()['Resources'], roleId);
  expect(permissions.filter((each) => /^(dynamodb|logs):/.test(each))).toEqual(
    [
      ...grants.flatMap(([table, actions]) =>
        actions.map((action) => `dynamodb:${action} ${tableLogicalId(table)}.Arn`),
      ),
      `logs:CreateLogStream ${logGroup}.Arn`,
      `logs:PutLogEvents ${logGroup}.Arn`,
    ].toSorted(),
  );
  expect(properties.Environment.Variables).toMatchObject(
    Object.fromEntries(grants.map(([table]) => [VARIABLES[table], { Ref: tableLogicalId(table) }])),
  );
});

test('functions have the settings as environment variables', () => {
  const stack = templateWith({
    allowOrigins: ['https://a.example', 'https://b.example'],
    identityProvider: { issuer: 'https://id.example.com', audiences: ['plants', 'gardens'], scope: 'write' },
  });
  expect(functionOf(stack, createPlant).properties.Environment.Variables).toMatchObject({
    ALLOW_ORIGINS: 'https://a.example,https://b.example',
    TOKEN_ISSUER: 'https://id.example.com',
    TOKEN_AUDIENCE: 'plants,gardens',
    TOKEN_SCOPE: 'write',
  });
});

test('functions use the DynamoDB of their region, in each partition', () => {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint } = functionOf(template, createPlant).properties.Environment.Variables;
  expect(textOf(endpoint)).toBe('https://dynamodb.AWS::Region.AWS::URLSuffix');
});
