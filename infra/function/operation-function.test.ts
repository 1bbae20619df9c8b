import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import {
  defaultTemplate,
  functionOf,
  permissionsOf,
  templateWith,
  waterPlant,
  withWaterPlant,
} from '../../test/support/stack.ts';
import { type GrantedOperation, grantedOperations } from '../operations.ts';

const PLANTS = 'DataPlants8CBE6BEF';
const ACCESS_TOKENS = 'DataAccessTokens854BD336';

test('createPlant may put plants, get tokens, write its own logs and traces, and nothing else', () => {
  const template = defaultTemplate();
  expect(permissionsOf(template, 'CreatePlantRole03794732')).toEqual([
    `dynamodb:GetItem ${ACCESS_TOKENS}.Arn`,
    `dynamodb:PutItem ${PLANTS}.Arn`,
    'logs:CreateLogStream CreatePlantLogs2D474390.Arn',
    'logs:PutLogEvents CreatePlantLogs2D474390.Arn',
    // X-Ray knows no resources.
    'xray:PutTelemetryRecords *',
    'xray:PutTraceSegments *',
  ]);
});

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  test.each(operations)(
    '$operationId runs on Node.js 24 and arm64, traced, with JSON logs in a group of its own',
    (operation) => {
      const { properties, logGroup } = functionOf(template, operation);
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        // Less starts several times slower, more waits for DynamoDB all the same (docs/decisions.md).
        MemorySize: 512,
        // The calls to DynamoDB end 4 s before this, and the gateway waits for 29 s.
        Timeout: 10,
        TracingConfig: { Mode: 'Active' },
      });
      // Without levels: above INFO the lines would be gone from which outcomes and cold starts are counted.
      expect(properties.LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: logGroup } });
      expect(template.findResources('AWS::Logs::LogGroup')[logGroup]).toMatchObject({
        Properties: { RetentionInDays: 30 },
      });
    },
  );

  test.each(operations)(
    '$operationId may do what its line says, and is told the tables that it may use',
    (operation) => {
      const { properties, logGroup } = functionOf(template, operation);
      const roleId = properties.Role['Fn::GetAtt'][0];
      expect(template.findResources('AWS::IAM::Role')[roleId]?.['Properties']).not.toHaveProperty('ManagedPolicyArns');
      expect(template.findResources('AWS::IAM::Role')[roleId]?.['Properties']).not.toHaveProperty('Policies');
      const { plants = [], accessTokens = [] } = operation.grants;
      expect(accessTokens).toContain('GetItem');
      expect(permissionsOf(template, roleId)).toEqual(
        [
          ...plants.map((action) => `dynamodb:${action} ${PLANTS}.Arn`),
          ...accessTokens.map((action) => `dynamodb:${action} ${ACCESS_TOKENS}.Arn`),
          `logs:CreateLogStream ${logGroup}.Arn`,
          `logs:PutLogEvents ${logGroup}.Arn`,
          'xray:PutTelemetryRecords *',
          'xray:PutTraceSegments *',
        ].toSorted(),
      );
      expect(properties.Environment.Variables).toEqual({
        ...(plants.length > 0 && { PLANTS_TABLE_NAME: { Ref: PLANTS } }),
        ACCESS_TOKENS_TABLE_NAME: { Ref: ACCESS_TOKENS },
      });
    },
  );

  test('no two functions share a role or a log group', () => {
    const functions = operations.map((operation) => functionOf(template, operation));
    expect(new Set(functions.map(({ logGroup }) => logGroup)).size).toBe(operations.length);
    expect(new Set(functions.map(({ properties }) => properties.Role['Fn::GetAtt'][0])).size).toBe(operations.length);
  });
});

test('a function that uses no plants is neither granted the table nor told its name', () => {
  const operation: GrantedOperation = { ...waterPlant, grants: { accessTokens: ['GetItem'] } };
  const template = templateWith({}, [...grantedOperations(), operation]);
  const { properties } = functionOf(template, operation);
  expect(Object.keys(properties.Environment.Variables)).toEqual(['ACCESS_TOKENS_TABLE_NAME']);
  expect(permissionsOf(template, properties.Role['Fn::GetAtt'][0]).join()).not.toContain(PLANTS);
});

test('a function knows the origins that may call it', () => {
  const operations = withWaterPlant();
  const template = templateWith({ allowOrigins: 'https://a.example' }, operations);
  for (const operation of operations) {
    const { properties } = functionOf(template, operation);
    expect(properties.Environment.Variables).toMatchObject({ ALLOW_ORIGINS: 'https://a.example' });
  }
});

test('a function knows whose JWTs it takes, and only then', () => {
  const provider = { tokenIssuer: 'https://id.example.com', tokenAudience: 'plants,gardens' };
  const operations = withWaterPlant();
  for (const [context, scope] of [
    [provider, {}],
    [{ ...provider, tokenScope: 'plants/write' }, { TOKEN_SCOPE: 'plants/write' }],
  ] as const) {
    const template = templateWith(context, operations);
    for (const operation of operations) {
      const { Variables } = functionOf(template, operation).properties.Environment;
      const told = Object.entries(Variables).filter(([name]) => name.startsWith('TOKEN_'));
      expect(Object.fromEntries(told)).toEqual({
        TOKEN_ISSUER: 'https://id.example.com',
        TOKEN_AUDIENCE: 'plants,gardens',
        ...scope,
      });
    }
  }
});

test('functions are named by CloudFormation', () => {
  templateWith({}, withWaterPlant()).allResourcesProperties('AWS::Lambda::Function', { FunctionName: Match.absent() });
});
