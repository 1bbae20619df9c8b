import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, inject, test } from 'vitest';
import { readContext } from './context.ts';
import { PlantStoreStack } from './plant-store-stack.ts';

const assembly = inject('assembly');
const template = Template.fromJSON(JSON.parse(readFileSync(join(assembly, 'PlantStore.template.json'), 'utf8')));

/** The throw-away stack, without the seconds that bundling takes. */
function throwawayTemplate(): Template {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  return Template.fromStack(new PlantStoreStack(app, 'PlantStoreThrowaway', { throwaway: true }));
}

test('both tables are on demand, recoverable to a point in time, encrypted and protected', () => {
  template.resourceCountIs('AWS::DynamoDB::Table', 2);
  template.allResourcesProperties('AWS::DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
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

test('the tables keep their logical ids, so that no update can replace them', () => {
  expect(Object.keys(template.findResources('AWS::DynamoDB::Table')).toSorted()).toEqual([
    'DataAccessTokens854BD336',
    'DataPlants8CBE6BEF',
  ]);
});

test('the function is on Node.js 24 and arm64, traced, with JSON logs kept for a month in a group of its own', () => {
  template.resourceCountIs('AWS::Lambda::Function', 1);
  template.hasResourceProperties('AWS::Lambda::Function', {
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    Timeout: 10,
    TracingConfig: { Mode: 'Active' },
    LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: 'CreatePlantLogs2D474390' } },
  });
  template.hasResource('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 30 }, DeletionPolicy: 'Retain' });
});

test('the function may put plants, get tokens, write its own logs and traces, and nothing else', () => {
  const [role, ...otherRoles] = Object.values(template.findResources('AWS::IAM::Role'));
  expect(otherRoles).toEqual([]);
  expect(role?.['Properties']).not.toHaveProperty('ManagedPolicyArns');
  expect(role?.['Properties']).not.toHaveProperty('Policies');
  const policies = Object.values(template.findResources('AWS::IAM::Policy'));
  const statements = policies.flatMap((policy) => policy['Properties'].PolicyDocument.Statement);
  const byAction = (a: { Action: string }, b: { Action: string }) => String(a.Action).localeCompare(String(b.Action));
  expect(statements.toSorted(byAction)).toEqual([
    { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: { 'Fn::GetAtt': ['DataAccessTokens854BD336', 'Arn'] } },
    { Effect: 'Allow', Action: 'dynamodb:PutItem', Resource: { 'Fn::GetAtt': ['DataPlants8CBE6BEF', 'Arn'] } },
    {
      Effect: 'Allow',
      Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Resource: { 'Fn::GetAtt': ['CreatePlantLogs2D474390', 'Arn'] },
    },
    // X-Ray knows no resources.
    { Effect: 'Allow', Action: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], Resource: '*' },
  ]);
});

test('the API is regional, has the one route, and leaves the account’s CloudWatch role alone', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    EndpointConfiguration: { Types: ['REGIONAL'] },
    BinaryMediaTypes: ['application/json'],
  });
  template.resourceCountIs('AWS::ApiGateway::Method', 1);
  template.hasResourceProperties('AWS::ApiGateway::Method', {
    HttpMethod: 'POST',
    Integration: { Type: 'AWS_PROXY' },
  });
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
  template.resourceCountIs('AWS::ApiGateway::GatewayResponse', 21);
});

test('the outputs are the base URL, both tables and the function', () => {
  expect(Object.keys(template.findOutputs('*')).toSorted()).toEqual([
    'AccessTokensTableName',
    'ApiUrl',
    'FunctionName',
    'PlantsTableName',
  ]);
});

test('nothing of a throw-away stack is left behind or protected', () => {
  const throwaway = throwawayTemplate();
  throwaway.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  for (const [id, resource] of Object.entries(throwaway.toJSON()['Resources'])) {
    expect(resource, id).not.toMatchObject({ DeletionPolicy: 'Retain' });
    expect(resource, id).not.toMatchObject({ UpdateReplacePolicy: 'Retain' });
  }
});

test.each([
  [undefined, false],
  ['true', true],
  [true, true],
  ['false', false],
])('the context key throwaway as %j means %s', (value, throwaway) => {
  expect(readContext(new App({ context: { throwaway: value } }))).toEqual({ throwaway });
});

test('a context key that is neither true nor false is refused with a sentence', async () => {
  const message = 'The context key "throwaway" was "yes"; it must be true or false.';
  expect(() => readContext(new App({ context: { throwaway: 'yes' } }))).toThrow(message);
  const app = promisify(execFile)(process.execPath, ['infra/app.ts'], {
    env: { ...process.env, CDK_CONTEXT_JSON: '{"throwaway":"yes"}' },
  });
  await expect(app).rejects.toMatchObject({ code: 1, stderr: `${message}\n` });
});
