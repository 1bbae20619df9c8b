import { type CfnResource, Duration, Lazy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm, type IAlarm, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnFunction, type CfnVersion, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { LoggedFunction, type OperationFunction, serviceVariables } from './functions.ts';
import { countLines, requestMetric } from './monitoring/metrics.ts';
import type { StackSettings } from './settings.ts';
import type { Tables } from './tables.ts';

const ALIAS = 'live';

interface ReleaseProps extends StackSettings {
  /** The function whose versions are released. */
  released: OperationFunction;
  tables: Tables;
}

/**
 * The alias `live`, which receives the traffic. A deployment first checks the new version, then moves the traffic to it
 * step by step, and rolls back if the new version crashes or responds with error 500 once. Only its own requests count,
 * and its alarms are new with each release: the current version's failures cannot stop a fix. Error 429, 503 and 504 do
 * not count: a rollback would not repair the database.
 *
 * @default a tenth of the traffic for ten minutes, then all of it; in an ephemeral stack all at once
 */
export class Release extends Construct {
  readonly live: IFunction;
  /** The log of the pre-traffic check: which check failed, and what was seen. */
  readonly preTrafficLog: LogGroup;

  constructor(scope: Construct, id: string, props: ReleaseProps) {
    super(scope, id);
    const { released, throwaway, skipReleaseChecks } = props;
    const { lambda, logGroup, operation } = released;
    const { currentVersion, functionName } = lambda;
    const { version } = currentVersion;
    const byVersion = { operation: '$.message.operation', version: '$.message.version' };
    countLines(logGroup, 'InternalErrors', '$.message.error = 500', byVersion);
    const internalErrors = requestMetric(this, 'InternalErrors', { operation: operation.operationId, version });
    // Invocations of the version through the alias that crashed ("Types of metrics for Lambda functions").
    const crashes = lambda.metricErrors({
      dimensionsMap: { FunctionName: functionName, Resource: `${functionName}:${ALIAS}`, ExecutedVersion: version },
      period: Duration.minutes(1),
    });

    const hook = this.#preTrafficHook(props);
    this.preTrafficLog = hook.logGroup;
    // The casts are needed because the types of CDK's classes and interfaces differ in `role`.
    const alias = new Alias(this, 'Live', { aliasName: ALIAS, version: currentVersion as IVersion });
    this.live = alias as IFunction;
    const deployments = new LambdaDeploymentGroup(this, 'Deployments', {
      alias,
      deploymentConfig: LambdaDeploymentConfig[throwaway ? 'ALL_AT_ONCE' : 'CANARY_10PERCENT_10MINUTES'],
      preHook: hook.lambda as IFunction,
      alarms: [
        this.#alarm('InternalErrors', released, internalErrors, 'responded with error 500'),
        this.#alarm('Crashes', released, crashes, 'crashed, ran out of memory or did not start'),
      ],
    });
    hook.lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['codedeploy:GetDeployment'], resources: [deployments.deploymentGroupArn] }),
    );
    // Before the alias moves, the hook must have this release's checks, and CodeDeploy must be allowed to invoke it.
    alias.node.addDependency(hook.lambda, deployments.role);
    acknowledgeVersions(deployments.role, hook);
    // Without its update policy, CloudFormation moves the alias itself. The rest stays for the next deployment.
    if (skipReleaseChecks) (alias.node.defaultChild as CfnResource).addDeletionOverride('UpdatePolicy');
    Validations.of(deployments).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'It is AWS’s own least set of permissions for CodeDeploy to move an alias.',
    });
  }

  /** The function that CodeDeploy invokes to check a new version, with access tokens that it issues and deletes. */
  #preTrafficHook({ released, tables: { accessTokens }, ...settings }: ReleaseProps): LoggedFunction {
    const { operation, lambda } = released;
    const hook = new LoggedFunction(this, 'PreTrafficHook', {
      description: `Checks a new version of ${operation.method} ${operation.path} before it gets traffic`,
      entry: 'checks/pre-traffic-hook.ts',
      // A correct version needs a few seconds.
      timeout: Duration.minutes(2),
      environment: {
        OPERATION_ID: operation.operationId,
        FUNCTION_ARN: lambda.functionArn,
        ACCESS_TOKENS_TABLE_NAME: accessTokens.tableName,
        ...serviceVariables(settings),
      },
    });
    accessTokens.grant(hook.role, 'dynamodb:PutItem', 'dynamodb:DeleteItem');
    // Only versions. Without the colon it would be $LATEST, which gets no traffic.
    const resources = [`${lambda.functionArn}:*`];
    hook.role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    acknowledgeVersions(hook.role, released);
    return hook;
  }

  /** One alarm per version: an updated alarm would keep the previous version's state. */
  #alarm(id: string, { lambda, operation }: OperationFunction, metric: Metric, failed: string): IAlarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `The version of ${operation.operationId} that was released last ${failed}. While it has only a part of the traffic, its release rolls back. First: run the saved query "faults". This alarm notifies nobody: the person who deploys sees the deployment fail. More: docs/operations.md.`,
      metric,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const { logicalId: versionId } = lambda.currentVersion.node.defaultChild as CfnVersion;
    const resource = alarm.node.defaultChild as CfnAlarm;
    const stack = Stack.of(this);
    const alarmId: string = stack.resolve(resource.logicalId);
    // The version's id ends with a hash of its code and configuration, which CDK knows only at synthesis.
    const hashed = () => alarmId + String(stack.resolve(versionId)).slice(-32);
    resource.overrideLogicalId(Lazy.uncachedString({ produce: hashed }));
    return alarm;
  }
}

/** Tells cdk-nag why a role may invoke every version of a function. */
function acknowledgeVersions(role: IRole, { lambda }: LoggedFunction): void {
  const resource = lambda.node.defaultChild as CfnFunction;
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${Stack.of(role).resolve(resource.logicalId)}.Arn>:*]`,
    reason: 'They are the versions of one function; each release has a new one.',
  });
}
