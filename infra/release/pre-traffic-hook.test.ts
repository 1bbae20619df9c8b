import { describe, expect, test } from 'vitest';
import {
  functionOf,
  permissionsOf,
  propertiesOf,
  releaseOf,
  TABLES,
  templateWith,
  twoOperations,
} from '../../test/support/stack.ts';

const template = templateWith({});

describe.each(twoOperations)('the pre-traffic hook of $operationId', (operation) => {
  const { id, logGroup } = functionOf(template, operation);
  const { hook, group, groupId } = releaseOf(template, operation);

  test('has its runtime, its variables and a JSON log of its own', () => {
    expect(hook).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      // With less memory it starts several times slower (docs/decisions.md).
      MemorySize: 512,
      // It reports a version that is too slow long before CodeDeploy's limit of an hour
      // ("AppSpec 'hooks' section for an AWS Lambda deployment").
      Timeout: 120,
    });
    expect(hook).not.toHaveProperty('TracingConfig');
    expect(hook.Environment.Variables).toEqual({
      OPERATION_ID: operation.operationId,
      FUNCTION_ARN: { 'Fn::GetAtt': [id, 'Arn'] },
      ACCESS_TOKENS_TABLE_NAME: { Ref: TABLES.accessTokens },
    });
    // Without levels: a level above INFO would drop the line that says that a version was checked.
    expect(hook.LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: expect.not.stringMatching(logGroup) } });
    expect(propertiesOf(template, 'AWS::Logs::LogGroup')[hook.LoggingConfig.LogGroup.Ref]).toEqual({
      RetentionInDays: 30,
    });
  });

  test('can invoke the versions of its function, issue and delete tokens, read the deployment and report', () => {
    const roleId = hook.Role['Fn::GetAtt'][0];
    const role = propertiesOf(template, 'AWS::IAM::Role')[roleId];
    expect(role).not.toHaveProperty('ManagedPolicyArns');
    expect(role).not.toHaveProperty('Policies');
    const groupArn = `arn:AWS::Partition:codedeploy:AWS::Region:AWS::AccountId:deploymentgroup:${group.ApplicationName.Ref}/${groupId}`;
    const ownLog = hook.LoggingConfig.LogGroup.Ref;
    expect(permissionsOf(template, roleId)).toEqual([
      `codedeploy:GetDeployment ${groupArn}`,
      `codedeploy:PutLifecycleEventHookExecutionStatus ${groupArn}`,
      `dynamodb:DeleteItem ${TABLES.accessTokens}.Arn`,
      `dynamodb:PutItem ${TABLES.accessTokens}.Arn`,
      // Only versions. Without the colon it would be $LATEST, which gets no traffic.
      `lambda:InvokeFunction ${id}.Arn:*`,
      `logs:CreateLogStream ${ownLog}.Arn`,
      `logs:PutLogEvents ${ownLog}.Arn`,
    ]);
  });
});
