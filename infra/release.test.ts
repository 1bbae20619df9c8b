import { type Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { permissionsOf } from '../test/support/permissions.ts';
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
  const filters = Object.entries(propertiesOf(template, 'AWS::Logs::MetricFilter'));
  const [filterId] =
    filters.find(([, { FilterPattern }]) => textOf(FilterPattern).includes(`"${versionId}.Version"`)) ?? [];
  expect(alias?.['DependsOn']).toEqual([filterId]);
});

test('gives CodeDeploy only what it needs to move an alias', () => {
  expect(permissionsOf(template, group.ServiceRoleArn['Fn::GetAtt'][0])).toEqual([
    'arn:AWS::Partition:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited',
  ]);
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

interface Change {
  settings?: Partial<StackSettings>;
  change?: (stack: Stack, lambda: CfnFunction) => unknown;
}

/** Returns the logical ids of the version and of the deployment of the API after a change of the stack. */
function idsAfter({ settings, change }: Change = {}) {
  const stack = stackWith(settings);
  const lambda = stack.node.findAll().find((construct) => construct instanceof CfnFunction);
  if (!lambda) throw new Error('The stack has no function.');
  // The tests do not bundle the code, so its S3 key is set here.
  lambda.addPropertyOverride('Code.S3Key', 'same.zip');
  change?.(stack, lambda);
  const after = Template.fromStack(stack);
  return {
    version: onlyIdOf(after, 'AWS::Lambda::Version'),
    deployment: onlyIdOf(after, 'AWS::ApiGateway::Deployment'),
  };
}

describe('the version of the function', () => {
  const before = idsAfter();

  const metric = new Metric({ namespace: 'N', metricName: 'M' });
  // Lambda rejects a new version without a change of code or configuration: "A version for this Lambda function
  // exists".
  test.each<[string, Change]>([
    ['the request limit', { settings: { requestsPerSecond: 7 } }],
    ['an alarm email', { settings: { alarms: { email: 'ops@example.com' } } }],
    ['an alarm', { change: (stack) => new Alarm(stack, 'Other', { metric, threshold: 1, evaluationPeriods: 1 }) }],
    // Tags belong to the function, not to a version ("Lambda function versions").
    ['a tag', { change: (stack) => Tags.of(stack).add('team', 'plants') }],
  ])('stays the same after adding or changing %s', (_case, change) => {
    expect(idsAfter(change).version).toBe(before.version);
  });

  test('is new after a change of an environment variable', () => {
    expect(idsAfter({ settings: { allowOrigins: ['https://a.example'] } }).version).not.toBe(before.version);
  });

  test('is new after a change of the code, which makes no new deployment of the API', () => {
    const after = idsAfter({ change: (_stack, lambda) => lambda.addPropertyOverride('Code.S3Key', 'other.zip') });
    expect(after.version).not.toBe(before.version);
    expect(after.deployment).toBe(before.deployment);
  });
});
