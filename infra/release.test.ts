import { type Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { onlyIdOf, onlyOf, propertiesOf, stackWith, templateWith, textOf } from '../test/support/stack.ts';
import type { StackSettings } from './settings.ts';

const template = templateWith();
const functionId = onlyIdOf(template, 'AWS::Lambda::Function');
const versionId = onlyIdOf(template, 'AWS::Lambda::Version');
const [alias] = Object.values(template.findResources('AWS::Lambda::Alias'));
const group = onlyOf(template, 'AWS::CodeDeploy::DeploymentGroup');

test('CodeDeploy moves the alias live to the new version', () => {
  expect(alias?.['Properties']).toEqual({
    Name: 'live',
    FunctionName: { Ref: functionId },
    FunctionVersion: { 'Fn::GetAtt': [versionId, 'Version'] },
  });
  expect(alias?.['UpdatePolicy'].CodeDeployLambdaAliasUpdate).toEqual({
    ApplicationName: group.ApplicationName,
    DeploymentGroupName: { Ref: onlyIdOf(template, 'AWS::CodeDeploy::DeploymentGroup') },
  });
});

test('counts the version’s errors from the first request of the canary on', () => {
  const [filterId] = alias?.['DependsOn'] ?? [];
  const { FilterPattern } = propertiesOf(template, 'AWS::Logs::MetricFilter')[filterId];
  expect(textOf(FilterPattern)).toContain(`"${versionId}.Version"`);
});

test('gives CodeDeploy only what it needs to move an alias', () => {
  const policy = 'arn:AWS::Partition:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited';
  const { ManagedPolicyArns } = propertiesOf(template, 'AWS::IAM::Role')[group.ServiceRoleArn['Fn::GetAtt'][0]];
  expect(ManagedPolicyArns.map(textOf)).toEqual([policy]);
});

test('rolls back if the deployment fails, if a person stops it, or if an alarm is raised', () => {
  expect(group).toMatchObject({
    // Ten minutes, because metrics arrive some minutes late.
    DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
    AutoRollbackConfiguration: {
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    },
    AlarmConfiguration: { Enabled: true },
  });
});

test('each version has two alarms of its own, which count only what this version does', () => {
  const version = { 'Fn::GetAtt': [versionId, 'Version'] };
  const alarms = group.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref);
  // Without actions: these alarms do not notify a person.
  const common = {
    Statistic: 'Sum',
    Period: 60,
    EvaluationPeriods: 1,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    Threshold: 1,
    TreatMissingData: 'notBreaching',
    AlarmDescription: expect.stringMatching(/^The newest version .* First: .* sends no message\. /),
  };
  expect(alarms.map((id: string) => propertiesOf(template, 'AWS::CloudWatch::Alarm')[id])).toEqual([
    {
      ...common,
      AlarmName: { 'Fn::Join': ['', ['PlantStore-VersionInternalErrors-', version]] },
      Namespace: 'PlantStore',
      MetricName: { 'Fn::Join': ['', ['InternalErrors-', version]] },
    },
    {
      ...common,
      AlarmName: { 'Fn::Join': ['', ['PlantStore-VersionCrashes-', version]] },
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [
        { Name: 'ExecutedVersion', Value: version },
        { Name: 'FunctionName', Value: { Ref: functionId } },
        { Name: 'Resource', Value: { 'Fn::Join': ['', [{ Ref: functionId }, ':live']] } },
      ],
    },
  ]);
});

test('an ephemeral stack moves all traffic at once', () => {
  expect(onlyOf(templateWith({ ephemeral: true }), 'AWS::CodeDeploy::DeploymentGroup')).toMatchObject({
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('withoutCanary only removes the update policy of the alias', () => {
  const expected = structuredClone(template.toJSON());
  delete expected['Resources'][onlyIdOf(template, 'AWS::Lambda::Alias')].UpdatePolicy;
  expect(templateWith({ withoutCanary: true }).toJSON()).toEqual(expected);
});

/** Returns the logical id of the function's version with these settings and this file of code, after a change. */
function versionWith(settings: Partial<StackSettings>, code: string, change?: (stack: Stack) => unknown): string {
  const stack = stackWith(settings);
  const lambda = stack.node.findAll().find((construct) => construct instanceof CfnFunction);
  // The tests do not bundle the code, so its S3 key is set here.
  lambda?.addPropertyOverride('Code.S3Key', code);
  change?.(stack);
  return onlyIdOf(Template.fromStack(stack), 'AWS::Lambda::Version');
}

test('a change of the code or of a variable makes a new version, and a change of anything else does not', () => {
  const before = versionWith({}, 'same.zip');
  expect(versionWith({}, 'other.zip')).not.toBe(before);
  expect(versionWith({ allowOrigins: ['https://a.example'] }, 'same.zip')).not.toBe(before);
  // Lambda rejects a new version without such a change: "A version for this Lambda function exists".
  expect(versionWith({ requestsPerSecond: 7, alarms: { email: 'ops@example.com' } }, 'same.zip')).toBe(before);
  // Tags belong to the function, not to a version ("Lambda function versions").
  expect(versionWith({}, 'same.zip', (stack) => Tags.of(stack).add('team', 'plants'))).toBe(before);
});
