import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import {
  functionOf,
  onlyOf,
  propertiesOf,
  stackWith,
  TABLES,
  templateWith,
  textOf,
  twoOperations,
} from '../test/support/stack.ts';
import { constructId, grantedOperations } from './operations.ts';

interface Resource {
  Type: string;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
  Properties?: Record<string, unknown>;
}

const template = templateWith({});

const resourcesOf = (stack: Template): Record<string, Resource> => stack.toJSON()['Resources'];
const typesOf = (stack: Template) => Object.entries(resourcesOf(stack)).map(([id, { Type }]) => `${Type} ${id}`);

test('another operation replaces no resource but the deployment of the API', () => {
  const before = typesOf(templateWith({}, grantedOperations()));
  const after = typesOf(template);
  const gone = before.filter((id) => !after.includes(id));
  expect(gone).toEqual([expect.stringMatching(/^AWS::ApiGateway::Deployment /)]);
});

test('the outputs are the base URL, the tables, the functions and the topic of the alarms', () => {
  const outputs = Object.entries(template.findOutputs('*')).map(([id, { Value }]) => [id, textOf(Value)]);
  const [api = ''] = Object.keys(propertiesOf(template, 'AWS::ApiGateway::RestApi'));
  expect(Object.fromEntries(outputs)).toEqual({
    ApiUrl: `https://${api}.execute-api.AWS::Region.AWS::URLSuffix/v1`,
    PlantsTableName: TABLES.plants,
    AccessTokensTableName: TABLES.accessTokens,
    ...Object.fromEntries(
      twoOperations.map((operation) => [`${constructId(operation)}FunctionName`, functionOf(template, operation).id]),
    ),
    AlarmTopicArn: Object.keys(propertiesOf(template, 'AWS::SNS::Topic'))[0],
  });
});

test('the only roles beside those of the functions are CodeDeploy’s, with AWS’s policy for it', () => {
  const roles = Object.values(propertiesOf(template, 'AWS::IAM::Role'));
  const principals = Object.groupBy(
    roles,
    ({ AssumeRolePolicyDocument }) => AssumeRolePolicyDocument.Statement[0].Principal.Service,
  );
  expect(Object.keys(principals).toSorted()).toEqual(['codedeploy.amazonaws.com', 'lambda.amazonaws.com']);
  expect(principals['codedeploy.amazonaws.com']).toHaveLength(twoOperations.length);
  for (const role of principals['codedeploy.amazonaws.com'] ?? []) {
    expect(role).not.toHaveProperty('Policies');
    expect(role.ManagedPolicyArns.map(textOf)).toEqual([
      'arn:AWS::Partition:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited',
    ]);
  }
});

/** The resource types that a stack keeps, with their deletion and replacement policies. */
function keptTypes(stack: Template): Record<string, string> {
  const policies = Object.values(resourcesOf(stack)).map(
    ({ Type, DeletionPolicy, UpdateReplacePolicy }) => [Type, `${DeletionPolicy}, ${UpdateReplacePolicy}`] as const,
  );
  return Object.fromEntries(policies.filter(([, policy]) => policy.includes('Retain')));
}

test('the stack keeps the data and what is needed with it; a failed creation leaves only the protected tables', () => {
  const kept = keptTypes(template);
  expect(kept).toEqual({
    // CloudFormation cannot delete protected tables, and would end in ROLLBACK_FAILED.
    'AWS::DynamoDB::Table': 'Retain, Retain',
    'AWS::KMS::Key': 'RetainExceptOnCreate, Retain',
    'AWS::Lambda::Version': 'RetainExceptOnCreate, Retain',
    'AWS::Logs::LogGroup': 'RetainExceptOnCreate, Retain',
  });
  for (const [type, policies] of Object.entries(kept)) {
    const [DeletionPolicy, UpdateReplacePolicy] = policies.split(', ');
    template.allResources(type, { DeletionPolicy, UpdateReplacePolicy });
  }
});

test('an ephemeral stack keeps and protects nothing', () => {
  const ephemeral = templateWith({ throwaway: true });
  ephemeral.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  expect(keptTypes(ephemeral)).toEqual({});
});

test.each([
  [{}, 'PlantStore'],
  [{ stage: 'dev' }, 'PlantStore-dev'],
  [{ throwaway: true }, 'PlantStoreThrowaway'],
  [{ throwaway: true, stage: 'dev' }, 'PlantStoreThrowaway-dev'],
])('with %j the stack and its dashboard are named %s', (context, name) => {
  const stack = stackWith(context);
  expect(stack.stackName).toBe(name);
  // An account has each dashboard name once for all regions.
  const { DashboardName } = onlyOf(Template.fromStack(stack), 'AWS::CloudWatch::Dashboard');
  expect(textOf(DashboardName)).toBe(`${name}-AWS::Region`);
});

test('CloudFormation names the other resources, so that two stages have no name in common', () => {
  for (const [id, { Properties }] of Object.entries(resourcesOf(template))) {
    for (const name of ['TableName', 'FunctionName', 'RoleName', 'LogGroupName', 'AlarmName', 'TopicName']) {
      expect(typeof Properties?.[name], `${name} of ${id}`).not.toBe('string');
    }
  }
});

test('for an emulator the stack has only the service itself', () => {
  const emulated = templateWith({ emulator: true });
  expect(new Set(Object.values(resourcesOf(emulated)).map(({ Type }) => Type))).toEqual(
    new Set([
      'AWS::ApiGateway::Deployment',
      'AWS::ApiGateway::RestApi',
      'AWS::ApiGateway::Stage',
      'AWS::DynamoDB::Table',
      'AWS::IAM::Policy',
      'AWS::IAM::Role',
      'AWS::Lambda::Function',
      'AWS::Lambda::Permission',
      'AWS::Logs::LogGroup',
    ]),
  );
  expect(emulated.findOutputs('AlarmTopicArn')).toEqual({});
});
