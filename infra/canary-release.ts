import { type CfnResource, Duration, Lazy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm, type IAlarm, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnFunction, type CfnVersion, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Variables } from '../functions/shared/environment.ts';
import { HOOK_TIMEOUT_MS } from '../functions/shared/time-limits.ts';
import { type GrantedOperation, LoggedFunction, type OperationFunction, tokenVariables } from './functions.ts';
import { MINUTE, requestMetric } from './monitoring/metrics.ts';
import type { StackSettings } from './settings.ts';

const ALIAS = 'live';

interface CanaryReleaseProps extends StackSettings {
  /** The function behind the alias. */
  operationFunction: OperationFunction;
}

/**
 * The alias `live` of a function, which receives the traffic. A deployment checks the new version, then moves 10 % of the
 * traffic to it for 10 minutes, then all of it; in an ephemeral stack all at once. CodeDeploy rolls back after one crash
 * or one error 500 of the new version. Each version has its own alarms, so that failures of the current version do not
 * block its repair. Errors 429, 503 and 504 do not count, because a rollback does not repair the database.
 */
export class CanaryRelease extends Construct {
  readonly live: IFunction;
  readonly operation: GrantedOperation;
  /** The log of the pre-traffic hook. If a release fails, it says which request the new version did not reject. */
  readonly preTrafficLog: LogGroup;

  constructor(scope: Construct, id: string, props: CanaryReleaseProps) {
    super(scope, id);
    const { operationFunction, ephemeral, skipReleaseChecks } = props;
    const { lambda, operation } = operationFunction;
    const { currentVersion, functionName } = lambda;
    this.operation = operation;
    const { version } = currentVersion;
    const internalErrors = requestMetric(this, 'InternalErrors', { operation: operation.operationId, version });
    // Failed invocations of this version through the alias ("Types of metrics for Lambda functions").
    const crashes = lambda.metricErrors({
      dimensionsMap: { FunctionName: functionName, Resource: `${functionName}:${ALIAS}`, ExecutedVersion: version },
      period: MINUTE,
    });

    const hook = this.#addPreTrafficHook(props);
    this.preTrafficLog = hook.logGroup;
    // The casts are needed because CDK's classes and interfaces have different types of `role`.
    const alias = new Alias(this, 'Live', { aliasName: ALIAS, version: currentVersion as IVersion });
    this.live = alias as IFunction;
    const deployments = new LambdaDeploymentGroup(this, 'Deployments', {
      alias,
      deploymentConfig: LambdaDeploymentConfig[ephemeral ? 'ALL_AT_ONCE' : 'CANARY_10PERCENT_10MINUTES'],
      preHook: hook.lambda as IFunction,
      alarms: [
        this.#addAlarm('InternalErrors', operationFunction, internalErrors, 'responded with error 500'),
        this.#addAlarm('Crashes', operationFunction, crashes, 'crashed, timed out, ran out of memory or did not start'),
      ],
    });
    hook.lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['codedeploy:GetDeployment'], resources: [deployments.deploymentGroupArn] }),
    );
    // CloudFormation must first deploy the hook's new code, and allow CodeDeploy to invoke it.
    alias.node.addDependency(hook.lambda, deployments.role);
    // Without the update policy, CloudFormation moves the alias at once, without CodeDeploy.
    if (skipReleaseChecks) (alias.node.defaultChild as CfnResource).addDeletionOverride('UpdatePolicy');
    // CodeDeploy may invoke the hook, which may invoke the function.
    for (const invoked of [hook.lambda, lambda]) {
      Validations.of(this).acknowledge({
        id: `AwsSolutions-IAM5[Resource::<${Stack.of(this).getLogicalId(invoked.node.defaultChild as CfnFunction)}.Arn>:*]`,
        reason: 'The wildcard matches only the versions of one function. Each release has a new version.',
      });
    }
    Validations.of(deployments).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'This is the AWS managed policy with the least permissions that CodeDeploy needs to move an alias.',
    });
  }

  /** The function that CodeDeploy invokes to check a new version. */
  #addPreTrafficHook({ operationFunction, ...settings }: CanaryReleaseProps): LoggedFunction {
    const { operation, lambda } = operationFunction;
    const hook = new LoggedFunction(this, 'PreTrafficHook', {
      description: `Checks a new version of ${operation.method} ${operation.path} before it receives traffic`,
      entry: 'functions/pre-traffic-hook/index.ts',
      timeout: Duration.millis(HOOK_TIMEOUT_MS),
      environment: {
        // As in "Create a file for your BeforeAllowTraffic Lambda function", CodeDeploy User Guide.
        NEW_VERSION_ARN: lambda.currentVersion.functionArn,
        METHOD: operation.method,
        RESOURCE: operation.path,
        ...tokenVariables(settings),
      } satisfies Variables,
    });
    // Allows published versions only. The ARN without ":*" would be $LATEST.
    const resources = [`${lambda.functionArn}:*`];
    hook.role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    return hook;
  }

  /** One alarm per version: an updated alarm would keep the previous version's state. */
  #addAlarm(id: string, { lambda, operation }: OperationFunction, metric: Metric, failure: string): IAlarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `The newest version of ${operation.operationId} ${failure}. During a release, CodeDeploy rolls back. First: run the saved query "faults". This alarm notifies nobody: the person who deploys sees the deployment fail.`,
      metric,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const { logicalId: versionId } = lambda.currentVersion.node.defaultChild as CfnVersion;
    const resource = alarm.node.defaultChild as CfnAlarm;
    const stack = Stack.of(this);
    const alarmId: string = stack.resolve(resource.logicalId);
    // The version's logical id ends with a hash of its code and configuration, which CDK computes at synthesis.
    const idWithHash = () => alarmId + String(stack.resolve(versionId)).slice(-32);
    resource.overrideLogicalId(Lazy.uncachedString({ produce: idWithHash }));
    return alarm;
  }
}
