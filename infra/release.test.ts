import { type Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { namedValues, onlyIdOf, onlyOf, plain, propertiesOf, stackWith, templateWith } from '../test/support/stack.ts';
import type { StackSettings } from './settings.ts';

const template = templateWith();
const functionId = onlyIdOf(template, 'AWS::Lambda::Function', 'CreatePlant');
const versionId = onlyIdOf(template, 'AWS::Lambda::Version', 'CreatePlant');
const version = `${versionId}.Version`;
const aliasId = onlyIdOf(template, 'AWS::Lambda::Alias', 'Release');
const { Properties: alias, DependsOn, UpdatePolicy } = plain(template.toJSON())['Resources'][aliasId];
const group = onlyOf(template, 'AWS::CodeDeploy::DeploymentGroup', 'Release');
const alarmId = (name: string) => onlyIdOf(template, 'AWS::CloudWatch::Alarm', `ReleaseVersion${name}`);

test('CodeDeploy moves the alias live to the new version', () => {
  expect(alias).toEqual({ Name: 'live', FunctionName: functionId, FunctionVersion: version });
  const DeploymentGroupName = onlyIdOf(template, 'AWS::CodeDeploy::DeploymentGroup', 'Release');
  const update = { ApplicationName: group.ApplicationName, DeploymentGroupName };
  expect(UpdatePolicy).toEqual({ CodeDeployLambdaAliasUpdate: update });
});

test('the version’s errors are counted from the first request of the canary on', () => {
  expect(propertiesOf(template, 'AWS::Logs::MetricFilter')[DependsOn[0]].FilterPattern).toContain(`"${version}"`);
});

test('CodeDeploy rolls back if the deployment fails, if an alarm rings, or if a person stops and rolls it back', () => {
  expect(group).toEqual({
    ApplicationName: onlyIdOf(template, 'AWS::CodeDeploy::Application', 'Release'),
    ServiceRoleArn: `${onlyIdOf(template, 'AWS::IAM::Role', 'ReleaseDeployments')}.Arn`,
    // Ten minutes, because metrics arrive some minutes late.
    DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
    DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
    AutoRollbackConfiguration: {
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    },
    AlarmConfiguration: {
      Enabled: true,
      Alarms: [{ Name: alarmId('InternalErrors') }, { Name: alarmId('Crashes') }],
    },
  });
});

const ofVersion = { ExecutedVersion: version, FunctionName: functionId, Resource: `${functionId}:live` };

test.each([
  ['InternalErrors', { Namespace: 'PlantStore', MetricName: `InternalErrors-${version}` }],
  ['Crashes', { Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions: namedValues(ofVersion) }],
])('each version has an alarm %s of its own, which counts only what this version does', (name, metric) => {
  // Without actions: these alarms do not notify a person.
  expect(propertiesOf(template, 'AWS::CloudWatch::Alarm')[alarmId(name)]).toEqual({
    AlarmName: `PlantStore-Version${name}-${version}`,
    AlarmDescription: expect.stringMatching(/^The newest version .* First: .* sends no message\. /),
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    EvaluationPeriods: 1,
    Threshold: 1,
    TreatMissingData: 'notBreaching',
    Statistic: 'Sum',
    Period: 60,
    ...metric,
  });
});

test('a release of an ephemeral stack moves all traffic at once', () => {
  expect(onlyOf(templateWith({ ephemeral: true }), 'AWS::CodeDeploy::DeploymentGroup', 'Release')).toEqual({
    ...group,
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('withoutCanary only removes the update policy of the alias', () => {
  const expected = structuredClone(template.toJSON());
  delete expected['Resources'][aliasId].UpdatePolicy;
  expect(templateWith({ withoutCanary: true }).toJSON()).toEqual(expected);
});

/** Returns the logical id of the function's version with these settings and this file of code, after a change. */
function versionWith(settings: Partial<StackSettings>, code: string, change?: (stack: Stack) => unknown): string {
  const stack = stackWith(settings);
  const constructs = stack.node.findChild('CreatePlant').node.findAll();
  const lambda = constructs.find((construct) => construct instanceof CfnFunction);
  // The tests do not bundle the code, so its S3 key is set here.
  lambda?.addPropertyOverride('Code.S3Key', code);
  change?.(stack);
  return onlyIdOf(Template.fromStack(stack), 'AWS::Lambda::Version', 'CreatePlant');
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
