import { type Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { type AlarmProperties, alarmStates, nameOf } from '../../test/support/alarm-states.ts';
import {
  alarmName,
  defaultTemplate,
  methodsOf,
  permissionsOf,
  releaseOf,
  stackWith,
  templateWith,
  WEB_ACL_ARN,
  withWaterPlant,
} from '../../test/support/stack.ts';
import { type GrantedOperation, grantedOperations, ownId } from '../operations.ts';

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  const alarm = (id: string) => template.findResources('AWS::CloudWatch::Alarm')[id]?.['Properties'] as AlarmProperties;

  test.each(operations)('requests of $operationId reach an alias of its function', (operation) => {
    const { alias, aliasId } = releaseOf(template, operation);
    expect(alias['Properties'].Name).toBe('live');
    const route = methodsOf(template).find(
      ({ method, path }) => method === operation.method && path === operation.path,
    );
    expect(JSON.stringify(route?.integration.uri)).toContain(`{"Ref":"${aliasId}"}`);
  });

  test.each(operations)('the hook is invoked before traffic moves to a new version of $operationId', (operation) => {
    const { alias, hookId, group } = releaseOf(template, operation);
    const codeDeploy = group.ServiceRoleArn['Fn::GetAtt'][0];
    expect(permissionsOf(template, codeDeploy)).toEqual([
      `lambda:InvokeFunction ${hookId}.Arn`,
      `lambda:InvokeFunction ${hookId}.Arn:*`,
    ]);
    // It is a policy of its own: without this, the alias could be updated before CodeDeploy may call the hook.
    const policies = Object.entries(template.findResources('AWS::IAM::Policy'));
    const [policyId] = policies.find(([, { Properties }]) => Properties.Roles[0].Ref === codeDeploy) ?? [];
    expect(alias['DependsOn']).toContain(policyId);
  });

  test.each(operations)(
    'a release of $operationId goes back where it fails, and on its own two alarms',
    (operation) => {
      const { group, alarmIds } = releaseOf(template, operation);
      expect(group).toMatchObject({
        // Ten minutes: alarms count by the minute, and metrics come some minutes late.
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
        AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
      });
      expect(group.AlarmConfiguration).toEqual({
        Enabled: true,
        Alarms: alarmIds.map((Ref: string) => ({ Name: { Ref } })),
      });
      expect(alarmIds.map(alarmName)).toEqual([
        ownId(operation, 'ReleaseInternalErrors'),
        ownId(operation, 'ReleaseCrashes'),
      ]);
    },
  );

  test.each(operations)('what the running version of $operationId does is nothing to these alarms', (operation) => {
    const { alarmIds, versionId } = releaseOf(template, operation);
    for (const id of alarmIds) {
      const { Namespace = '', MetricName = '', Dimensions = [] } = alarm(id);
      const ofNew = nameOf({ Namespace, MetricName, Dimensions });
      const ofRunning = ofNew.replace(`ersion=${versionId}.Version`, 'ersion=41');
      expect(ofRunning).not.toBe(ofNew);
      expect(alarmStates(alarm(id), { [ofNew]: [[1]] })).toEqual(['ALARM']);
      expect(() => alarmStates(alarm(id), { [ofRunning]: [[1]] })).toThrow(`The alarm does not watch ${ofRunning}`);
    }
  });

  test.each(operations)('these alarms of $operationId tell nobody, and their descriptions say so', (operation) => {
    for (const id of releaseOf(template, operation).alarmIds) {
      expect(alarm(id)).not.toHaveProperty('AlarmActions');
      expect(alarm(id)).not.toHaveProperty('OKActions');
      expect(alarm(id)).toMatchObject({
        AlarmDescription: expect.stringMatching(
          new RegExp(`${operation.operationId}.* First: .* tells nobody: .*docs/operations\\.md\\.$`),
        ),
      });
    }
  });
});

test('a throw-away stack moves all at once', () => {
  templateWith({ throwaway: true }).allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('skipReleaseChecks leaves out the update policy of each alias, and changes nothing else', () => {
  const expected = structuredClone(templateWith({}, withWaterPlant()).toJSON());
  const resources = Object.values<{ Type: string; UpdatePolicy?: object }>(expected['Resources']);
  const aliases = resources.filter(({ Type }) => Type === 'AWS::Lambda::Alias');
  expect(aliases).toHaveLength(withWaterPlant().length);
  for (const alias of aliases) {
    expect(alias).toHaveProperty('UpdatePolicy.CodeDeployLambdaAliasUpdate');
    delete alias.UpdatePolicy;
  }
  expect(templateWith({ skipReleaseChecks: true }, withWaterPlant()).toJSON()).toEqual(expected);
});

type Changes = [
  context?: Record<string, unknown>,
  change?: ((stack: Stack, lambda: CfnFunction) => unknown) | undefined,
  operations?: GrantedOperation[],
];

/** The logical ids of an operation's version and of the alarms of its release, where the stack is changed so. */
function idsOf(operation: GrantedOperation, ...[context = {}, change, operations = withWaterPlant()]: Changes) {
  const stack = stackWith(context, operations);
  const lambda = stack.node
    .findAll()
    .filter((node) => node instanceof CfnFunction)
    .find(({ description }) => description === `${operation.method} ${operation.path}`);
  if (!lambda) throw new Error(`There is no function of ${operation.operationId}.`);
  // Nothing is bundled here, so the code has no hash of its own.
  lambda.addPropertyOverride('Code.S3Key', 'same.zip');
  change?.(stack, lambda);
  const { versionId, alarmIds } = releaseOf(Template.fromStack(stack), operation);
  return { versionId, alarmIds: alarmIds as string[] };
}

describe.each(withWaterPlant())('a version of $operationId', (operation) => {
  const before = idsOf(operation);

  test('has its hash in the ids of its alarms', () => {
    const hash = before.versionId.slice(-32);
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(before.alarmIds.map((id) => id.slice(-32))).toEqual([hash, hash]);
  });

  // Lambda refuses a version that is as the last one: "Version already exists".
  test.each<[string, ...Changes]>([
    ['nothing'],
    ['another limit', { requestsPerSecond: 7 }],
    ['an address for alarms and a web ACL', { alarmEmail: 'ops@example.com', webAclArn: WEB_ACL_ARN }],
    ['the other operations', {}, undefined, [operation]],
    [
      'another alarm',
      {},
      (stack) =>
        new Alarm(stack, 'Other', {
          metric: new Metric({ namespace: 'N', metricName: 'M' }),
          threshold: 1,
          evaluationPeriods: 1,
        }),
    ],
    [
      'another table',
      {},
      (stack) => new Table(stack, 'Other', { partitionKey: { name: 'id', type: AttributeType.STRING } }),
    ],
    // Of a function, but of no version ("Lambda function versions").
    ['a tag', {}, (stack) => Tags.of(stack).add('team', 'plants')],
    ['a reserved concurrency', {}, (_stack, lambda) => lambda.addPropertyOverride('ReservedConcurrentExecutions', 9)],
  ])('is the same, with the same alarms, after a change of %s', (_change, ...changed) => {
    expect(idsOf(operation, ...changed)).toEqual(before);
  });

  test.each<[string, ...Changes]>([
    ['its code', {}, (_stack, lambda) => lambda.addPropertyOverride('Code.S3Key', 'other.zip')],
    ['a variable', { allowOrigins: 'https://a.example' }],
    ['its memory', {}, (_stack, lambda) => lambda.addPropertyOverride('MemorySize', 1024)],
  ])('is another, with other alarms, after a change of %s', (_change, ...changed) => {
    const { versionId, alarmIds } = idsOf(operation, ...changed);
    expect(versionId).not.toBe(before.versionId);
    expect(new Set([...alarmIds, ...before.alarmIds]).size).toBe(4);
  });
});
