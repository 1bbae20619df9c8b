import { Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { idOf, namedValues, propertiesOf, stackWith, templateWith, withChange } from '../test/support/stack.ts';

const template = templateWith();
const functionId = idOf(template, 'AWS::Lambda::Function');
const versionId = idOf(template, 'AWS::Lambda::Version');
const version = `${versionId}.Version`;
const aliasId = idOf(template, 'AWS::Lambda::Alias', 'Release');
const { DependsOn, UpdatePolicy } = template.toJSON()['Resources'][aliasId];
const group = propertiesOf(template, 'AWS::CodeDeploy::DeploymentGroup', 'Release');

test('CodeDeploy moves the alias live to the new version, whose errors a filter already counts', () => {
  const alias = { Name: 'live', FunctionName: functionId, FunctionVersion: version };
  expect(propertiesOf(template, 'AWS::Lambda::Alias', 'Release')).toEqual(alias);
  expect(UpdatePolicy.CodeDeployLambdaAliasUpdate).toEqual({
    ApplicationName: { Ref: group.ApplicationName },
    DeploymentGroupName: { Ref: idOf(template, 'AWS::CodeDeploy::DeploymentGroup', 'Release') },
  });
  expect(propertiesOf(template, 'AWS::Logs::MetricFilter', DependsOn[0]).FilterPattern).toContain(`"${version}"`);
});

test('CodeDeploy rolls back if the deployment fails, if an alarm rings, or if a person stops and rolls it back', () => {
  const alarms = ['ReleaseVersionInternalErrors', 'ReleaseVersionCrashes'];
  const Alarms = alarms.map((name) => ({ Name: idOf(template, 'AWS::CloudWatch::Alarm', name) }));
  expect(group).toEqual({
    ApplicationName: idOf(template, 'AWS::CodeDeploy::Application', 'Release'),
    ServiceRoleArn: `${idOf(template, 'AWS::IAM::Role', 'ReleaseDeployments')}.Arn`,
    // Ten minutes, because metrics arrive some minutes late.
    DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
    DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
    AutoRollbackConfiguration: {
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    },
    AlarmConfiguration: { Enabled: true, Alarms },
  });
});

const ofVersion = { ExecutedVersion: version, FunctionName: functionId, Resource: `${functionId}:live` };

test.each([
  ['InternalErrors', { Namespace: 'PlantStore', MetricName: `InternalErrors-${version}` }],
  ['Crashes', { Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions: namedValues(ofVersion) }],
])('each version has an alarm %s of its own, which counts only what this version does', (name, metric) => {
  // Without actions: these alarms do not notify a person.
  expect(propertiesOf(template, 'AWS::CloudWatch::Alarm', `ReleaseVersion${name}`)).toEqual({
    AlarmName: `PlantStore-Version${name}-${version}`,
    AlarmDescription: expect.stringMatching(/^The newest version .* First: .* notifies nobody\. /),
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
  expect(propertiesOf(templateWith({ ephemeral: true }), 'AWS::CodeDeploy::DeploymentGroup', 'Release')).toEqual({
    ...group,
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('withoutCanary only removes the update policy of the alias', () => {
  const expected = structuredClone(template.toJSON());
  for (const id of Object.keys(template.findResources('AWS::Lambda::Alias')))
    delete expected['Resources'][id].UpdatePolicy;
  expect(templateWith({ withoutCanary: true }).toJSON()).toEqual(expected);
});

test('a change of the code or of a variable makes a new version, and a change of anything else does not', () => {
  const versionOf = (stack: Template) => idOf(stack, 'AWS::Lambda::Version');
  expect(versionOf(withChange('Function', 'Code.S3Key', 'other.zip'))).not.toBe(versionId);
  expect(versionOf(templateWith({ allowOrigins: ['https://a.example'] }))).not.toBe(versionId);
  // Lambda rejects a new version without such a change: "A version for this Lambda function exists".
  expect(versionOf(templateWith({ requestsPerSecond: 7, alarms: { email: 'ops@example.com' } }))).toBe(versionId);
  // Tags belong to the function, not to a version ("Lambda function versions").
  const tagged = stackWith();
  Tags.of(tagged).add('team', 'plants');
  expect(versionOf(Template.fromStack(tagged))).toBe(versionId);
});
