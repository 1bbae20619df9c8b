import { type Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { pascalCaseId } from '../model/contract.ts';
import { permissionsOf } from '../test/support/permissions.ts';
import {
  allOperations,
  createPlant,
  functionOf,
  methodsOf,
  propertiesOf,
  releaseOf,
  stackWith,
  templateWith,
  textOf,
} from '../test/support/stack.ts';
import type { StackSettings } from './settings.ts';

const template = templateWith({});
const { Resources: resources } = template.toJSON();

describe.each(allOperations)('a release of $operationId', (operation) => {
  const { alias, aliasId, group, alarmIds, versionId } = releaseOf(template, operation);
  const { id } = functionOf(template, operation);

  test('deploys to the alias that API Gateway invokes', () => {
    expect(alias['Properties'].Name).toBe('live');
    const isRoute = ({ method, path }: { method: string; path: string }) =>
      method === operation.method && path === operation.path;
    expect(JSON.stringify(methodsOf(template).find(isRoute)?.integration.uri)).toContain(`{"Ref":"${aliasId}"}`);
  });

  test('counts the version’s errors from the first request of the canary on', () => {
    const metrics = Object.entries(propertiesOf(template, 'AWS::Logs::MetricFilter')).map(
      ([filterId, { MetricTransformations }]) => [textOf(MetricTransformations[0].MetricName), filterId],
    );
    const filterId = Object.fromEntries(metrics)[`${operation.operationId}-InternalErrors-${versionId}.Version`];
    expect(alias['DependsOn']).toContain(filterId);
  });

  test('gives CodeDeploy only what it needs to move an alias', () => {
    const roleId = group.ServiceRoleArn['Fn::GetAtt'][0];
    expect(permissionsOf(resources, roleId)).toEqual([
      'arn:AWS::Partition:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited',
    ]);
  });

  test('rolls back if the deployment fails or one of its two alarms is raised', () => {
    expect(group).toMatchObject({
      // Ten minutes, because metrics arrive some minutes late.
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
      AlarmConfiguration: { Enabled: true },
    });
    const version = { 'Fn::GetAtt': [versionId, 'Version'] };
    const crashDimensions = [
      { Name: 'ExecutedVersion', Value: version },
      { Name: 'FunctionName', Value: { Ref: id } },
      { Name: 'Resource', Value: { 'Fn::Join': ['', [{ Ref: id }, ':live']] } },
    ];
    const errorsOfVersion = { 'Fn::Join': ['', [`${operation.operationId}-InternalErrors-`, version]] };
    const alarms = alarmIds.map((alarmId) => propertiesOf(template, 'AWS::CloudWatch::Alarm')[alarmId]);
    // Without actions: these alarms do not notify a person.
    const common = {
      Statistic: 'Sum',
      Period: 60,
      EvaluationPeriods: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
      AlarmDescription: expect.stringMatching(`${operation.operationId}.* First: .* sends no message\\. `),
    };
    expect(alarms).toEqual([
      { ...common, Namespace: 'PlantStore', MetricName: errorsOfVersion },
      { ...common, Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions: crashDimensions },
    ]);
  });
});

test('an ephemeral stack moves all traffic at once', () => {
  templateWith({ ephemeral: true }).allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('withoutCanary only removes the update policy of each alias', () => {
  const expected = structuredClone(template.toJSON());
  for (const operation of allOperations) {
    const { aliasId } = releaseOf(template, operation);
    expect(expected['Resources'][aliasId]).toHaveProperty('UpdatePolicy.CodeDeployLambdaAliasUpdate');
    delete expected['Resources'][aliasId].UpdatePolicy;
  }
  expect(templateWith({ withoutCanary: true }).toJSON()).toEqual(expected);
});

interface Change {
  settings?: Partial<StackSettings>;
  change?: (stack: Stack, lambda: CfnFunction) => unknown;
}

/** Returns the logical ids of createPlant's version and release alarms after a change of the stack. */
function releaseIdsAfter({ settings = {}, change }: Change = {}) {
  const stack = stackWith(settings);
  const lambda = stack.node.findChild(pascalCaseId(createPlant)).node.findChild('Function').node.defaultChild;
  if (!(lambda instanceof CfnFunction)) throw new Error('There is no function of createPlant.');
  // The tests do not bundle the code, so its S3 key is set here.
  lambda.addPropertyOverride('Code.S3Key', 'same.zip');
  change?.(stack, lambda);
  const { versionId, alarmIds } = releaseOf(Template.fromStack(stack), createPlant);
  return [versionId, ...alarmIds];
}

describe('the version of an operation', () => {
  const before = releaseIdsAfter();

  const metric = new Metric({ namespace: 'N', metricName: 'M' });
  // Lambda rejects a new version without a change of code or configuration: "A version for this Lambda function
  // exists".
  test.each<[string, Change]>([
    ['the request limit', { settings: { requestsPerSecond: 7 } }],
    ['an alarm email', { settings: { alarms: { email: 'ops@example.com' } } }],
    ['an alarm', { change: (stack) => new Alarm(stack, 'Other', { metric, threshold: 1, evaluationPeriods: 1 }) }],
    // Tags belong to the function, not to a version ("Lambda function versions").
    ['a tag', { change: (stack) => Tags.of(stack).add('team', 'plants') }],
  ])('stays the same, with the same alarms, after adding or changing %s', (_case, change) => {
    expect(releaseIdsAfter(change)).toEqual(before);
  });

  test.each<[string, Change]>([
    ['its code', { change: (_stack, lambda) => lambda.addPropertyOverride('Code.S3Key', 'other.zip') }],
    ['an environment variable', { settings: { allowOrigins: ['https://a.example'] } }],
  ])('is replaced, with new alarms, after changing %s', (_case, change) => {
    expect(new Set([...releaseIdsAfter(change), ...before]).size).toBe(2 * before.length);
  });
});
