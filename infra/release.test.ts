import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import {
  alarmName,
  defaultTemplate,
  functionOf,
  methodsOf,
  templateWith,
  withWaterPlant,
} from '../test/support/stack.ts';
import { grantedOperations, ownId } from './operations.ts';

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  test.each(operations)('requests of $operationId reach an alias of its function', (operation) => {
    const { id } = functionOf(template, operation);
    const [alias] = Object.keys(
      template.findResources('AWS::Lambda::Alias', {
        Properties: { Name: 'live', FunctionName: { Ref: id } },
        UpdatePolicy: { CodeDeployLambdaAliasUpdate: Match.anyValue() },
      }),
    );
    expect(alias).toBeDefined();
    const route = methodsOf(template).find(
      ({ method, path }) => method === operation.method && path === operation.path,
    );
    expect(JSON.stringify(route?.integration.Uri)).toContain(`{"Ref":"${alias}"}`);
  });

  test.each(operations)(
    'a release of $operationId goes back on Faults and on errors of its own function',
    (operation) => {
      const { id } = functionOf(template, operation);
      const [alias] = Object.values(
        template.findResources('AWS::Lambda::Alias', { Properties: { FunctionName: { Ref: id } } }),
      );
      const groupId = alias?.['UpdatePolicy'].CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref;
      const group = template.findResources('AWS::CodeDeploy::DeploymentGroup')[groupId]?.['Properties'];
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
        },
      });
      const alarms: string[] = group.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref);
      expect(group.AlarmConfiguration.Enabled).toBe(true);
      expect(alarms.map(alarmName)).toEqual(['Faults', ownId(operation, 'FunctionErrors')]);
      expect(template.findResources('AWS::CloudWatch::Alarm')[alarms[1] ?? '']?.['Properties']).toMatchObject({
        MetricName: 'Errors',
        Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      });
    },
  );

  test('replaced versions are kept, since a release goes back to one', () => {
    template.resourceCountIs('AWS::Lambda::Version', operations.length);
    template.allResources('AWS::Lambda::Version', { DeletionPolicy: 'Retain' });
  });
});

test('a throw-away stack moves all at once', () => {
  templateWith({ throwaway: true }).allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});
