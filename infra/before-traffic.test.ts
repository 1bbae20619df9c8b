import { describe, expect, test } from 'vitest';
import {
  defaultTemplate,
  functionOf,
  permissionsOf,
  releaseOf,
  templateWith,
  withWaterPlant,
} from '../test/support/stack.ts';
import { grantedOperations } from './operations.ts';

const ACCESS_TOKENS = 'DataAccessTokens854BD336';

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  test.each(operations)(
    'what asks a new version of $operationId is told that version, and runs as it must',
    (operation) => {
      const { hook, versionId } = releaseOf(template, operation);
      expect(hook).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        // Less starts several times slower (docs/decisions.md), while its two minutes run.
        MemorySize: 512,
        // Rules that each wait for a slow version are cut off, and reported, long before CodeDeploy's hour is over
        // ("AppSpec 'hooks' section for an AWS Lambda deployment").
        Timeout: 120,
      });
      expect(hook).not.toHaveProperty('TracingConfig');
      expect(hook.Environment.Variables).toEqual({
        OPERATION_ID: operation.operationId,
        // The ARN of the version, not of the alias, which is still on the running one.
        FUNCTION_VERSION_ARN: { Ref: versionId },
        ACCESS_TOKENS_TABLE_NAME: { Ref: ACCESS_TOKENS },
      });
    },
  );

  test.each(operations)('its log of $operationId is its own, in JSON, and kept for a month', (operation) => {
    const { LoggingConfig } = releaseOf(template, operation).hook;
    // Without levels: above INFO the line would be gone that says that a version was asked at all.
    expect(LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } });
    expect(LoggingConfig.LogGroup.Ref).not.toBe(functionOf(template, operation).logGroup);
    // As long as that of the function, which says what the same requests met.
    expect(template.findResources('AWS::Logs::LogGroup')[LoggingConfig.LogGroup.Ref]?.['Properties']).toEqual({
      RetentionInDays: 30,
    });
  });

  test.each(operations)(
    'it may call the versions of the function of $operationId, issue and withdraw a token, report, and nothing else',
    (operation) => {
      const { hook, group, alias } = releaseOf(template, operation);
      const roleId = hook.Role['Fn::GetAtt'][0];
      const role = template.findResources('AWS::IAM::Role')[roleId]?.['Properties'];
      expect(role).not.toHaveProperty('ManagedPolicyArns');
      expect(role).not.toHaveProperty('Policies');
      const logGroup = hook.LoggingConfig.LogGroup.Ref;
      const groupId = alias['UpdatePolicy'].CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref;
      const groupArn = `arn:AWS::Partition:codedeploy:AWS::Region:AWS::AccountId:deploymentgroup:${group.ApplicationName.Ref}/${groupId}`;
      expect(permissionsOf(template, roleId)).toEqual([
        `codedeploy:PutLifecycleEventHookExecutionStatus ${groupArn}`,
        `dynamodb:DeleteItem ${ACCESS_TOKENS}.Arn`,
        `dynamodb:PutItem ${ACCESS_TOKENS}.Arn`,
        // With a colon: the function itself is $LATEST, which no caller reaches.
        `lambda:InvokeFunction ${functionOf(template, operation).id}.Arn:*`,
        `logs:CreateLogStream ${logGroup}.Arn`,
        `logs:PutLogEvents ${logGroup}.Arn`,
      ]);
    },
  );

  test('each operation has its own', () => {
    const hooks = operations.map((operation) => releaseOf(template, operation));
    for (const part of ['hookId', 'versionId'] as const) {
      expect(new Set(hooks.map((release) => release[part])).size).toBe(operations.length);
    }
    expect(new Set(hooks.map(({ hook }) => JSON.stringify(hook.Role))).size).toBe(operations.length);
  });
});
