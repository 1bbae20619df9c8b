import { type Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import {
  functionOf,
  methodsOf,
  permissionsOf,
  propertiesOf,
  releaseOf,
  stackWith,
  templateWith,
  twoOperations,
  WEB_ACL_ARN,
} from '../../test/support/stack.ts';
import { constructId, type GrantedOperation } from '../operations.ts';

const template = templateWith({});

describe.each(twoOperations)('a release of $operationId', (operation) => {
  const { alias, aliasId, hookId, group, alarmIds, versionId } = releaseOf(template, operation);
  const { id } = functionOf(template, operation);

  test('moves the alias that the route invokes', () => {
    expect(alias['Properties'].Name).toBe('live');
    const route = methodsOf(template).find(
      ({ method, path }) => method === operation.method && path === operation.path,
    );
    expect(JSON.stringify(route?.integration.uri)).toContain(`{"Ref":"${aliasId}"}`);
  });

  test('lets CodeDeploy invoke the hook before it moves traffic', () => {
    const roleId = group.ServiceRoleArn['Fn::GetAtt'][0];
    expect(permissionsOf(template, roleId)).toEqual([
      `lambda:InvokeFunction ${hookId}.Arn`,
      `lambda:InvokeFunction ${hookId}.Arn:*`,
    ]);
    // Otherwise CloudFormation could update the alias before CodeDeploy has the permission.
    const policies = Object.entries(propertiesOf(template, 'AWS::IAM::Policy'));
    const [policyId] = policies.find(([, { Roles }]) => Roles[0].Ref === roleId) ?? [];
    expect(alias['DependsOn']).toContain(policyId);
  });

  test('rolls back if it fails, or if one of its two alarms goes off', () => {
    expect(group).toMatchObject({
      // Ten minutes: alarms count by the minute, and metrics come some minutes late.
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
      AlarmConfiguration: { Enabled: true },
    });
    const version = { 'Fn::GetAtt': [versionId, 'Version'] };
    const watched = [
      {
        Namespace: 'PlantStore',
        MetricName: 'InternalErrors',
        Dimensions: [
          { Name: 'operation', Value: operation.operationId },
          { Name: 'version', Value: version },
        ],
      },
      {
        Namespace: 'AWS/Lambda',
        MetricName: 'Errors',
        Dimensions: [
          { Name: 'ExecutedVersion', Value: version },
          { Name: 'FunctionName', Value: { Ref: id } },
          { Name: 'Resource', Value: { 'Fn::Join': ['', [{ Ref: id }, ':live']] } },
        ],
      },
    ];
    const alarms = alarmIds.map((alarmId) => propertiesOf(template, 'AWS::CloudWatch::Alarm')[alarmId]);
    expect(alarms).toEqual(
      watched.map((metric) => ({
        ...metric,
        Statistic: 'Sum',
        Period: 60,
        EvaluationPeriods: 1,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        Threshold: 1,
        TreatMissingData: 'notBreaching',
        // Without actions: these alarms call nobody.
        AlarmDescription: expect.stringMatching(
          new RegExp(`${operation.operationId}.* First: .* notifies nobody: .*docs/operations\\.md\\.$`),
        ),
      })),
    );
  });
});

test('an ephemeral stack moves all traffic at once', () => {
  templateWith({ throwaway: true }).allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('skipReleaseChecks removes the update policy of each alias, and changes nothing else', () => {
  const expected = structuredClone(template.toJSON());
  for (const operation of twoOperations) {
    const { aliasId } = releaseOf(template, operation);
    expect(expected['Resources'][aliasId]).toHaveProperty('UpdatePolicy.CodeDeployLambdaAliasUpdate');
    delete expected['Resources'][aliasId].UpdatePolicy;
  }
  expect(templateWith({ skipReleaseChecks: true }).toJSON()).toEqual(expected);
});

interface Change {
  settings?: Record<string, unknown>;
  operations?: GrantedOperation[];
  change?: (stack: Stack, lambda: CfnFunction) => unknown;
}

/** The logical ids of an operation's version and release alarms in a changed stack. */
function idsOf(operation: GrantedOperation, { settings = {}, operations = twoOperations, change }: Change = {}) {
  const stack = stackWith(settings, operations);
  const lambda = stack.node.findChild(constructId(operation)).node.findChild('Function').node.defaultChild;
  if (!(lambda instanceof CfnFunction)) throw new Error(`There is no function of ${operation.operationId}.`);
  // Nothing is bundled here, so the code has no hash of its own.
  lambda.addPropertyOverride('Code.S3Key', 'same.zip');
  change?.(stack, lambda);
  const { versionId, alarmIds } = releaseOf(Template.fromStack(stack), operation);
  return [versionId, ...alarmIds];
}

describe.each(twoOperations)('the version of $operationId', (operation) => {
  const before = idsOf(operation);

  test('has its hash in the ids of its alarms, whose names start with the operation', () => {
    const [versionId = '', ...alarmIds] = before;
    const release = `${constructId(operation)}Release`;
    expect(alarmIds).toEqual(
      ['InternalErrors', 'Crashes'].map((name) =>
        expect.stringMatching(new RegExp(`^${release}${name}[0-9A-F]{8}${versionId.slice(-32)}$`)),
      ),
    );
  });

  // Lambda rejects a version that equals the last one: "Version already exists".
  test.each<[string, Change]>([
    ['another limit', { settings: { requestsPerSecond: 7 } }],
    ['an alarm email and a web ACL', { settings: { alarmEmail: 'ops@example.com', webAclArn: WEB_ACL_ARN } }],
    ['the other operations', { operations: [operation] }],
    [
      'another alarm',
      {
        change: (stack) => {
          const metric = new Metric({ namespace: 'N', metricName: 'M' });
          return new Alarm(stack, 'Other', { metric, threshold: 1, evaluationPeriods: 1 });
        },
      },
    ],
    [
      'another table',
      { change: (stack) => new Table(stack, 'Other', { partitionKey: { name: 'id', type: AttributeType.STRING } }) },
    ],
    // A function has these two, a version does not ("Lambda function versions").
    ['a tag', { change: (stack) => Tags.of(stack).add('team', 'plants') }],
    [
      'a reserved concurrency',
      { change: (_stack, lambda) => lambda.addPropertyOverride('ReservedConcurrentExecutions', 9) },
    ],
  ])('stays the same, with the same alarms, after a change of %s', (_what, change) => {
    expect(idsOf(operation, change)).toEqual(before);
  });

  test.each<[string, Change]>([
    ['its code', { change: (_stack, lambda) => lambda.addPropertyOverride('Code.S3Key', 'other.zip') }],
    ['a variable', { settings: { allowOrigins: 'https://a.example' } }],
    ['its memory', { change: (_stack, lambda) => lambda.addPropertyOverride('MemorySize', 1024) }],
  ])('is another, with other alarms, after a change of %s', (_what, change) => {
    expect(new Set([...idsOf(operation, change), ...before]).size).toBe(2 * before.length);
  });
});
