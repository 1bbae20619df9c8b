import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { allPropertiesOf, EVERYTHING, idOf, plain, stackWith, templateWith } from '../test/support/stack.ts';
import { stages } from './stages.ts';

const template = templateWith();

/** The resources of a template by their logical ids. */
const resourcesOf = (stack: Template): Record<string, Record<string, string>> => plain(stack.toJSON())['Resources'];

test('the stack outputs the base URL, the tables and the alarm topic', () => {
  const api = idOf(template, 'AWS::ApiGateway::RestApi');
  expect(plain(template.findOutputs('*'))).toEqual({
    ApiUrl: { Value: `https://${api}.execute-api.AWS::Region.AWS::URLSuffix/v1` },
    PlantsTableName: { Value: 'PlantsTable' },
    AccessTokensTableName: { Value: 'AccessTokensTable' },
    AlarmTopicArn: { Value: idOf(template, 'AWS::SNS::Topic') },
  });
});

test('each role can be assumed only by its service, and has only the managed policy for it', () => {
  const roleOf = (service: string, policy?: string) => {
    const Principal = { Service: `${service}.amazonaws.com` };
    const Statement = [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal }];
    const managed = policy && { ManagedPolicyArns: [`arn:AWS::Partition:iam::aws:policy/service-role/${policy}`] };
    return { AssumeRolePolicyDocument: { Version: '2012-10-17', Statement }, ...managed };
  };
  const codeDeploy = roleOf('codedeploy', 'AWSCodeDeployRoleForLambdaLimited');
  const expected = [roleOf('lambda'), codeDeploy, roleOf('apigateway', 'AmazonAPIGatewayPushToCloudWatchLogs')];
  const roles = Object.values(allPropertiesOf(templateWith({ cloudWatchRole: true }), 'AWS::IAM::Role'));
  for (const role of roles) expect(expected).toContainEqual(role);
  expect(roles).toEqual(expect.arrayContaining(expected));
});

test('each log is kept for one month', () => {
  const logs = Object.values(allPropertiesOf(template, 'AWS::Logs::LogGroup'));
  expect(logs).toEqual(logs.map(() => ({ RetentionInDays: 30 })));
});

const tableWith = (AttributeName: string, AttributeType: 'N' | 'S', others = {}) => ({
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{ AttributeName, KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName, AttributeType }],
  PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  SSESpecification: { SSEEnabled: true },
  DeletionProtectionEnabled: true,
  ...others,
});

// CloudFormation makes a new, empty table if a logical id, a name or a key schema changes. If one must change, add the
// new table beside the old one, copy the plants, and remove the old one in a later deployment.
test.each([{}, EVERYTHING])('no deployment replaces or loses a table; each is encrypted and can be restored', (all) => {
  const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
  expect(allPropertiesOf(templateWith(all), 'AWS::DynamoDB::Table')).toEqual({
    PlantsTable: tableWith('id', 'N'),
    AccessTokensTable: tableWith('digest', 'S', { TimeToLiveSpecification }),
  });
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

test.each([
  ['production of infra/stages.ts', 'PlantStore', true, stages['production']],
  ['dev', 'PlantStore-dev', false, { stage: 'dev' }],
  ['production if it is ephemeral', 'PlantStore', false, { ephemeral: true }],
])('the stage %s has the stack %s, with termination protection: %s', (_, name, isProtected, settings) => {
  const { stackName, terminationProtection } = stackWith(settings);
  expect([stackName, terminationProtection]).toEqual([name, isProtected]);
});

test('each fixed name of another resource contains the name of the stack, so that two stages cannot use the same', () => {
  const resources = resourcesOf(templateWith({ stage: 'dev' }));
  const isName = /^(Table|Function|Role|LogGroup|Alarm|Topic|Dashboard)Name$/;
  const names = Object.values(resources)
    .flatMap(({ Properties }) => Object.entries(Properties ?? {}))
    .flatMap(([property, value]) => (isName.test(property) ? String(value) : []));
  expect(names.filter((name) => !(name in resources) && !name.startsWith('PlantStore-dev-'))).toEqual([]);
});
