import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { defaultTemplate, stackWith, templateWith, withWaterPlant } from '../test/support/stack.ts';
import { grantedOperations, ownId } from './operations.ts';

const template = defaultTemplate();
const operations = grantedOperations();

const typesById = (stack: Template) =>
  Object.fromEntries(
    Object.entries(stack.toJSON()['Resources'] as Record<string, CfnResource>).map(([id, { Type }]) => [id, Type]),
  );

test.each([
  ['as it is', template],
  ['with one operation more', templateWith({}, withWaterPlant())],
])(
  '%s, the stack keeps the logical ids of what createPlant was deployed with, so that no update can replace it',
  (_what, stack) => {
    expect(typesById(stack)).toMatchObject({
      CreatePlantLogs2D474390: 'AWS::Logs::LogGroup',
      CreatePlantRole03794732: 'AWS::IAM::Role',
      CreatePlantRoleDefaultPolicyCB59EF0A: 'AWS::IAM::Policy',
      CreatePlantFunctionAE9062BF: 'AWS::Lambda::Function',
      ReleaseLive284FCDB0: 'AWS::Lambda::Alias',
      ReleaseDeployments63E604EC: 'AWS::CodeDeploy::DeploymentGroup',
      ReleaseDeploymentsApplicationAD1B6554: 'AWS::CodeDeploy::Application',
      ReleaseDeploymentsServiceRole5D8914DA: 'AWS::IAM::Role',
      ApiAccessLog713001CC: 'AWS::Logs::LogGroup',
      ApiRestApiE35FEAFE: 'AWS::ApiGateway::RestApi',
      ApiRestApiDeploymentStagev157F58EAC: 'AWS::ApiGateway::Stage',
      MonitoringAlarmsTopic63051086: 'AWS::SNS::Topic',
      MonitoringAlarmsTopicKey17676A11: 'AWS::KMS::Key',
    });
    expect(stack.toJSON()['Resources'].ReleaseLive284FCDB0.Properties.FunctionName).toEqual({
      Ref: 'CreatePlantFunctionAE9062BF',
    });
  },
);

test('one operation more takes nothing from the stack but what a change of the API replaces', () => {
  const before = typesById(templateWith({}));
  const after = typesById(templateWith({}, withWaterPlant()));
  const gone = Object.entries(before).filter(([id]) => !(id in after));
  // The old deployment of an API makes place for the new one.
  expect(gone.map(([, Type]) => Type)).toEqual(['AWS::ApiGateway::Deployment']);
});

test.each([
  ['the contract', template, operations],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s the outputs are the base URL, each table, each function and the alarms’ topic', (_what, stack, ofStack) => {
  expect(Object.keys(stack.findOutputs('*')).toSorted()).toEqual(
    [
      'AccessTokensTableName',
      'AlarmTopicArn',
      'ApiUrl',
      'PlantsTableName',
      ...ofStack.map((operation) => ownId(operation, 'FunctionName')),
    ].toSorted(),
  );
  const url = [
    'https://',
    { Ref: 'ApiRestApiE35FEAFE' },
    '.execute-api.',
    { Ref: 'AWS::Region' },
    '.',
    { Ref: 'AWS::URLSuffix' },
    '/v1',
  ];
  expect(stack.findOutputs('*')).toMatchObject({
    ApiUrl: { Value: { 'Fn::Join': ['', url] } },
    PlantsTableName: { Value: { Ref: 'DataPlants8CBE6BEF' } },
    AccessTokensTableName: { Value: { Ref: 'DataAccessTokens854BD336' } },
    FunctionName: { Value: { Ref: 'CreatePlantFunctionAE9062BF' } },
    AlarmTopicArn: { Value: { Ref: 'MonitoringAlarmsTopic63051086' } },
  });
});

test('besides the functions’ the only roles are CodeDeploy’s, with AWS’s policy for it', () => {
  const others = Object.values(template.findResources('AWS::IAM::Role')).filter(
    (role) => principalOf(role) !== 'lambda.amazonaws.com',
  );
  expect(others).toHaveLength(operations.length);
  for (const role of others) {
    expect(principalOf(role)).toBe('codedeploy.amazonaws.com');
    expect(role['Properties']).not.toHaveProperty('Policies');
    expect(role['Properties'].ManagedPolicyArns).toHaveLength(1);
    expect(JSON.stringify(role['Properties'].ManagedPolicyArns)).toContain('AWSCodeDeployRoleForLambdaLimited');
  }
});

/** The types of which a stack deletes nothing, by their two policies for it. */
function keptTypes(stack: Template): Record<string, string> {
  const kept = Object.values(stack.toJSON()['Resources'] as Record<string, CfnResource>).filter((resource) =>
    JSON.stringify([resource.DeletionPolicy, resource.UpdateReplacePolicy]).includes('Retain'),
  );
  return Object.fromEntries(
    kept.map(({ Type, DeletionPolicy, UpdateReplacePolicy }) => [Type, `${DeletionPolicy}, ${UpdateReplacePolicy}`]),
  );
}

test('data, and what is needed with it, outlives the stack; a creation that fails leaves only the protected tables', () => {
  const stack = templateWith({}, withWaterPlant());
  expect(keptTypes(stack)).toEqual({
    // CloudFormation could not delete them while they are protected, and would end in ROLLBACK_FAILED.
    'AWS::DynamoDB::Table': 'Retain, Retain',
    'AWS::KMS::Key': 'RetainExceptOnCreate, Retain',
    'AWS::Lambda::Version': 'RetainExceptOnCreate, Retain',
    'AWS::Logs::LogGroup': 'RetainExceptOnCreate, Retain',
  });
  for (const [type, policies] of Object.entries(keptTypes(stack))) {
    const [DeletionPolicy, UpdateReplacePolicy] = policies.split(', ');
    stack.allResources(type, { DeletionPolicy, UpdateReplacePolicy });
  }
});

test('nothing of a throw-away stack is left behind or protected', () => {
  const throwaway = templateWith({ throwaway: true });
  throwaway.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  expect(keptTypes(throwaway)).toEqual({});
});

test.each([
  [{}, 'PlantStore'],
  [{ stage: 'dev' }, 'PlantStore-dev'],
  [{ throwaway: true }, 'PlantStoreThrowaway'],
  [{ throwaway: true, stage: 'dev' }, 'PlantStoreThrowaway-dev'],
])('with %j the stack is called %s, so that stages stand side by side', (context, name) => {
  const stack = stackWith(context);
  expect(stack.stackName).toBe(name);
  // Of the names that an account has once for all regions, the dashboard's is the only one here.
  const [dashboard, ...others] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
  expect(others).toEqual([]);
  expect(dashboard?.['Properties'].DashboardName).toEqual({ 'Fn::Join': ['', [`${name}-`, { Ref: 'AWS::Region' }]] });
});

test('tables, functions, roles, logs, alarms and topics are named by CloudFormation, so that two stages never meet', () => {
  for (const [id, { Properties }] of Object.entries(template.toJSON()['Resources'] as Record<string, CfnResource>)) {
    for (const name of ['TableName', 'FunctionName', 'RoleName', 'LogGroupName', 'AlarmName', 'TopicName']) {
      expect(typeof Properties?.[name], `${name} of ${id}`).not.toBe('string');
    }
  }
});

test('for an emulator only the service itself is left', () => {
  const emulated = templateWith({ emulator: true });
  const { Resources } = emulated.toJSON() as { Resources: Record<string, { Type: string }> };
  expect([...new Set(Object.values(Resources).map(({ Type }) => Type))].toSorted()).toEqual([
    'AWS::ApiGateway::Deployment',
    'AWS::ApiGateway::RestApi',
    'AWS::ApiGateway::Stage',
    'AWS::DynamoDB::Table',
    'AWS::IAM::Policy',
    'AWS::IAM::Role',
    'AWS::Lambda::Function',
    'AWS::Lambda::Permission',
    'AWS::Logs::LogGroup',
  ]);
  expect(emulated.findOutputs('AlarmTopicArn')).toEqual({});
});

interface CfnResource {
  Type: string;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
  Properties?: Record<string, unknown>;
}

function principalOf(role: { [key: string]: unknown }): string {
  const { AssumeRolePolicyDocument } = role['Properties'] as {
    AssumeRolePolicyDocument: { Statement: { Principal: { Service: string } }[] };
  };
  return AssumeRolePolicyDocument.Statement[0]?.Principal.Service ?? '';
}
