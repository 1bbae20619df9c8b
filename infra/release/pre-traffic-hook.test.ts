import { describe, expect, test } from 'vitest';
import {
  defaultTemplate,
  functionOf,
  permissionsOf,
  releaseOf,
  templateWith,
  withWaterPlant,
} from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

const ACCESS_TOKENS = 'DataAccessTokens854BD336';

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  test.each(operations)('the hook of $operationId has what it needs', (operation) => {
    const { hook } = releaseOf(template, operation);
    expect(hook).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      // With less memory it starts several times slower (docs/decisions.md).
      MemorySize: 512,
      // The hook reports a version that is too slow long before CodeDeploy's hour is over
      // ("AppSpec 'hooks' section for an AWS Lambda deployment").
      Timeout: 120,
    });
    expect(hook).not.toHaveProperty('TracingConfig');
    expect(hook.Environment.Variables).toEqual({
      OPERATION_ID: operation.operationId,
      FUNCTION_ARN: { 'Fn::GetAtt': [functionOf(template, operation).id, 'Arn'] },
      ACCESS_TOKENS_TABLE_NAME: { Ref: ACCESS_TOKENS },
    });
  });

  test.each(operations)('the hook of $operationId has a log of its own, in JSON, kept for a month', (operation) => {
    const { LoggingConfig } = releaseOf(template, operation).hook;
    // Without levels: above INFO the line that says that a version was checked would be missing.
    expect(LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } });
    expect(LoggingConfig.LogGroup.Ref).not.toBe(functionOf(template, operation).logGroup);
    // As long as that of the function, which says what the same requests met.
    expect(template.findResources('AWS::Logs::LogGroup')[LoggingConfig.LogGroup.Ref]?.['Properties']).toEqual({
      RetentionInDays: 30,
    });
  });

  test.each(operations)(
    'the hook of $operationId may invoke the versions of its function, issue and delete tokens, read the deployment and report',
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
        `codedeploy:GetDeployment ${groupArn}`,
        `codedeploy:PutLifecycleEventHookExecutionStatus ${groupArn}`,
        `dynamodb:DeleteItem ${ACCESS_TOKENS}.Arn`,
        `dynamodb:PutItem ${ACCESS_TOKENS}.Arn`,
        // With a colon: without one it is $LATEST, which gets no traffic.
        `lambda:InvokeFunction ${functionOf(template, operation).id}.Arn:*`,
        `logs:CreateLogStream ${logGroup}.Arn`,
        `logs:PutLogEvents ${logGroup}.Arn`,
      ]);
    },
  );

  test('each operation has its own', () => {
    const hooks = operations.map((operation) => releaseOf(template, operation));
    expect(new Set(hooks.map(({ hookId }) => hookId)).size).toBe(operations.length);
    expect(new Set(hooks.map(({ hook }) => JSON.stringify(hook.Role))).size).toBe(operations.length);
  });
});

test('the hook knows the origins and the identity provider of the stack', () => {
  const settings = { allowOrigins: 'https://a.example', tokenIssuer: 'https://id.example', tokenAudience: 'plants' };
  for (const operation of grantedOperations()) {
    expect(releaseOf(templateWith(settings), operation).hook.Environment.Variables).toMatchObject({
      ALLOW_ORIGINS: 'https://a.example',
      TOKEN_ISSUER: 'https://id.example',
      TOKEN_AUDIENCE: 'plants',
    });
  }
});
