import { type CfnResource, Tags } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { stackWith, synthesize, templateWith } from '../test/support/stack.ts';

const production = templateWith();
const versionId = production.idOf('AWS::Lambda::Version');
const version = `\${${versionId}.Version}`;
const aliasId = production.idOf('AWS::Lambda::Alias');
const { Properties, DependsOn, UpdatePolicy, ...others } = production.Resources[aliasId] ?? {};
const ALARM = 'AWS::CloudWatch::Alarm';
const group = production.propertiesOf('AWS::CodeDeploy::DeploymentGroup');

test('CodeDeploy moves the alias live to the new version, whose errors a filter already counts', () => {
  expect(Properties).toMatchObject({ Name: 'live', FunctionVersion: version });
  const DeploymentGroupName = production.refTo('AWS::CodeDeploy::DeploymentGroup');
  expect(UpdatePolicy.CodeDeployLambdaAliasUpdate).toMatchObject({ DeploymentGroupName });
  const { FilterPattern } = production.propertiesOf('AWS::Logs::MetricFilter', DependsOn[0]);
  expect(FilterPattern).toContain(`"${version}"`);
});

test('an alarm of the new version, with its name and its metric, rolls a release back', () => {
  const events = ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'];
  expect(group.AutoRollbackConfiguration).toEqual({ Enabled: true, Events: events });
  const ids = ['VersionInternalErrors', 'VersionCrashes'].map((name) => production.idOf(ALARM, `Release${name}`));
  expect(group.AlarmConfiguration).toEqual({ Enabled: true, Alarms: ids.map((id) => ({ Name: `\${${id}}` })) });
  const [internalErrors, crashes] = ids.map((id) => production.propertiesOf(ALARM, id));
  const name = `InternalErrors-${version}`;
  expect(internalErrors).toMatchObject({ AlarmName: `PlantStore-production-Version${name}`, MetricName: name });
  expect(crashes.AlarmName).toBe(`PlantStore-production-VersionCrashes-${version}`);
  // One datapoint rolls back, also if it arrives some minutes late.
  const once = { Threshold: 1, DatapointsToAlarm: 1, EvaluationPeriods: 5, Period: 60 };
  const alarms = [internalErrors, crashes];
  for (const alarm of alarms)
    expect(alarm).toMatchObject({ ...once, ComparisonOperator: 'GreaterThanOrEqualToThreshold' });
  expect(crashes.Dimensions).toContainEqual({ Name: 'ExecutedVersion', Value: version });
});

test('only a release of an ephemeral stack has no canary', () => {
  expect(group.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent10Minutes');
  const ephemeral = templateWith({ ephemeral: true }).propertiesOf('AWS::CodeDeploy::DeploymentGroup');
  expect(ephemeral.DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce');
});

test('withoutCanary only removes the update policy of the alias', () => {
  const resources = { ...production.Resources, [aliasId]: { Properties, DependsOn, ...others } };
  expect(templateWith({ withoutCanary: true }).Resources).toEqual(resources);
});

test('a change of the code or of a variable makes a new version, and a change of anything else does not', () => {
  const versionOf = (template: typeof production) => template.idOf('AWS::Lambda::Version');
  const changed = stackWith();
  const lambda = changed.node.findChild('Function').node.defaultChild as CfnResource;
  lambda.addPropertyOverride('Code.S3Key', 'other.zip');
  expect(versionOf(synthesize(changed))).not.toBe(versionId);
  expect(versionOf(templateWith({ allowOrigins: ['https://a.example'] }))).not.toBe(versionId);
  // Lambda rejects a new version without such a change: "A version for this Lambda function exists".
  expect(versionOf(templateWith({ requestsPerSecond: 7, alarms: { email: 'ops@example.com' } }))).toBe(versionId);
  // Tags belong to the function, not to a version ("Lambda function versions").
  const tagged = stackWith();
  Tags.of(tagged).add('team', 'plants');
  expect(versionOf(synthesize(tagged))).toBe(versionId);
});
