import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { EVERYTHING, onlyIdOf, onlyOf, plain, propertiesOf, stackWith, templateWith } from '../test/support/stack.ts';
import { ACCESS_TOKENS_KEY, PLANTS_KEY } from './data/tables.ts';
import { stages } from './stages.ts';

const template = templateWith();

/** The resources of a template by their logical ids. */
function resourcesOf(stack: Template): Record<string, Record<string, string> & { Properties?: object }> {
  return plain(stack.toJSON())['Resources'];
}

test('the stack outputs the base URL, the tables and the alarm topic', () => {
  const api = onlyIdOf(template, 'AWS::ApiGateway::RestApi');
  expect(plain(template.findOutputs('*'))).toEqual({
    ApiUrl: { Value: `https://${api}.execute-api.AWS::Region.AWS::URLSuffix/v1` },
    PlantsTableName: { Value: 'PlantsTable' },
    AccessTokensTableName: { Value: 'AccessTokensTable' },
    AlarmTopicArn: { Value: onlyIdOf(template, 'AWS::SNS::Topic') },
  });
});

test('only the service that needs a role may assume it', () => {
  const roles = Object.values(propertiesOf(templateWith(EVERYTHING), 'AWS::IAM::Role'));
  const allowed = ['lambda', 'codedeploy', 'apigateway'].map((service) => ({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: `${service}.amazonaws.com` } }],
  }));
  expect(roles.map(({ AssumeRolePolicyDocument }) => AssumeRolePolicyDocument)).toEqual(allowed);
});

const tableWith = (AttributeName: string, AttributeType: 'N' | 'S', others = {}) => ({
  Type: 'AWS::DynamoDB::Table',
  DeletionPolicy: 'Retain',
  UpdateReplacePolicy: 'Retain',
  Properties: {
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName, KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName, AttributeType }],
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
    DeletionProtectionEnabled: true,
    ...others,
  },
});

// CloudFormation makes a new, empty table if a logical id, a name or a key schema changes. If one must change, add the
// new table beside the old one, copy the plants, and remove the old one in a later deployment.
test.each([{}, EVERYTHING])('no deployment replaces or loses a table; each is encrypted and can be restored', (all) => {
  expect(templateWith(all).findResources('AWS::DynamoDB::Table')).toEqual({
    PlantsTable: tableWith('id', 'N'),
    AccessTokensTable: tableWith('digest', 'S', {
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    }),
  });
  // The local run creates its tables from these.
  expect([PLANTS_KEY, ACCESS_TOKENS_KEY]).toEqual([
    { name: 'id', type: 'N' },
    { name: 'digest', type: 'S' },
  ]);
});

/** DeletionPolicy and UpdateReplacePolicy of the resource types that the stack keeps. */
const KEPT: Record<string, string> = {
  // CloudFormation cannot delete protected tables: a failed creation would end in ROLLBACK_FAILED.
  'AWS::DynamoDB::Table': 'Retain, Retain',
  'AWS::KMS::Key': 'RetainExceptOnCreate, Retain',
  'AWS::Lambda::Version': 'RetainExceptOnCreate, Retain',
  'AWS::Logs::LogGroup': 'RetainExceptOnCreate, Retain',
};

test('deleting the stack keeps tables, logs, versions and the key; a failed creation keeps only the tables', () => {
  // Without the account's role for logs, which CDK keeps too.
  const resources = Object.values(resourcesOf(templateWith({ ...EVERYTHING, cloudWatchRole: false })));
  for (const { Type = '', DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' } of resources) {
    expect(`${DeletionPolicy}, ${UpdateReplacePolicy}`, Type).toBe(KEPT[Type] ?? 'Delete, Delete');
  }
});

test('an ephemeral stack is deleted completely', () => {
  const ephemeral = templateWith({ ephemeral: true });
  ephemeral.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  expect(JSON.stringify(ephemeral.toJSON())).not.toContain('Policy":"Retain');
});

test('the stage production in infra/stages.ts is protected, and keeps its data', () => {
  expect(stackWith(stages['production']).terminationProtection).toBe(true);
});

test.each([
  [{}, 'PlantStore', true],
  [{ stage: 'dev' }, 'PlantStore-dev', false],
  [{ stage: 'dev', ephemeral: true }, 'PlantStore-dev', false],
  [{ ephemeral: true }, 'PlantStore', false],
])(
  'with %j the stack and its dashboard are named %s, with termination protection: %s',
  (settings, name, isProtected) => {
    const stack = stackWith(settings);
    expect(stack.stackName).toBe(name);
    expect(stack.terminationProtection).toBe(isProtected);
    // A dashboard name is unique in all regions of an account.
    const { DashboardName } = onlyOf(Template.fromStack(stack), 'AWS::CloudWatch::Dashboard');
    expect(DashboardName).toBe(`${name}-AWS::Region`);
  },
);

test('each fixed name of another resource contains the name of the stack, so that two stages cannot use the same', () => {
  const resources = resourcesOf(templateWith({ stage: 'dev' }));
  const properties = ['TableName', 'FunctionName', 'RoleName', 'LogGroupName', 'AlarmName', 'TopicName'];
  const names = Object.values(resources)
    .flatMap(({ Properties = {} }) => Object.entries(Properties))
    .flatMap(([property, value]) => (properties.includes(property) ? String(value) : []));
  expect(names.filter((name) => !(name in resources) && !name.startsWith('PlantStore-dev-'))).toEqual([]);
});
