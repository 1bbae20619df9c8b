import { expect, test } from 'vitest';
import { permissionsOf } from '../test/support/permissions.ts';
import { functionOf, propertiesOf, TABLES, templateWith, twoOperations, waterPlant } from '../test/support/stack.ts';
import type { Action, GrantedOperation } from './operations.ts';
import type { TableName } from './tables.ts';

const template = templateWith({});
const tokenReader: GrantedOperation = { ...waterPlant, grants: { accessTokens: ['GetItem'] } };

const VARIABLES: Record<TableName, string> = {
  plants: 'PLANTS_TABLE_NAME',
  accessTokens: 'ACCESS_TOKENS_TABLE_NAME',
};

test('each function has a JSON log of its own that is kept for a month, and a role of its own', () => {
  const functions = Object.values(propertiesOf(template, 'AWS::Lambda::Function'));
  for (const { LoggingConfig } of functions) {
    // Without levels: a level above INFO would drop the lines that are counted.
    expect(LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } });
    expect(propertiesOf(template, 'AWS::Logs::LogGroup')[LoggingConfig.LogGroup.Ref]).toEqual({ RetentionInDays: 30 });
  }
  const count = 2 * twoOperations.length;
  expect(new Set(functions.map(({ Role }) => Role['Fn::GetAtt'][0])).size).toBe(count);
  expect(new Set(functions.map(({ LoggingConfig }) => LoggingConfig.LogGroup.Ref)).size).toBe(count);
});

test.each(twoOperations)('$operationId runs on Node.js 24 and arm64, traced', (operation) => {
  expect(functionOf(template, operation).properties).toMatchObject({
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    // With less memory it starts several times slower; with more it still waits for DynamoDB (docs/decisions.md).
    MemorySize: 512,
    // The calls to DynamoDB end 4 s before this, and the gateway waits for 29 s.
    Timeout: 10,
    TracingConfig: { Mode: 'Active' },
  });
});

test.each([
  ...twoOperations.map((operation) => ({ operation, stack: template })),
  { operation: tokenReader, stack: templateWith({}, [tokenReader]) },
])('$operation.operationId has the permissions and table names of its grants $operation.grants', (granted) => {
  const { operation, stack } = granted;
  const { properties, roleId, logGroup } = functionOf(stack, operation);
  const grants = Object.entries(operation.grants) as [TableName, Action[]][];
  expect(permissionsOf(stack.toJSON()['Resources'], roleId)).toEqual(
    [
      ...grants.flatMap(([name, actions]) => actions.map((action) => `dynamodb:${action} ${TABLES[name]}.Arn`)),
      `logs:CreateLogStream ${logGroup}.Arn`,
      `logs:PutLogEvents ${logGroup}.Arn`,
      'xray:PutTelemetryRecords *',
      'xray:PutTraceSegments *',
    ].toSorted(),
  );
  expect(properties.Environment.Variables).toEqual(
    Object.fromEntries(grants.map(([name]) => [VARIABLES[name], { Ref: TABLES[name] }])),
  );
});

test('createPlant can put plants and get access tokens, and nothing else in the database', () => {
  const createPlant = twoOperations.find(({ operationId }) => operationId === 'createPlant');
  expect(createPlant?.grants).toEqual({ plants: ['PutItem'], accessTokens: ['GetItem'] });
});

test('every function gets the settings of the service', () => {
  const settings = { tokenIssuer: 'https://id.example.com', tokenAudience: 'plants,gardens', tokenScope: 'write' };
  const stack = templateWith({ allowOrigins: 'https://a.example', ...settings });
  for (const { Environment } of Object.values(propertiesOf(stack, 'AWS::Lambda::Function'))) {
    expect(Environment.Variables).toMatchObject({
      ALLOW_ORIGINS: 'https://a.example',
      TOKEN_ISSUER: 'https://id.example.com',
      TOKEN_AUDIENCE: 'plants,gardens',
      TOKEN_SCOPE: 'write',
    });
  }
});
