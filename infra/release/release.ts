import { type CfnResource, Duration, Lazy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm, type IAlarm, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnVersion, type IFunction, type IVersion, type Version } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { OperationFunction, ServiceSettings } from '../function/operation-function.ts';
import type { StackSettings } from '../settings.ts';
import type { Tables } from '../tables.ts';
import { acknowledgeVersions, PreTrafficHook } from './pre-traffic-hook.ts';

const ALIAS = 'live';

interface ReleaseProps extends ServiceSettings, Pick<StackSettings, 'throwaway' | 'skipReleaseChecks'> {
  /** The function whose versions are released. */
  released: OperationFunction;
  tables: Tables;
}

/**
 * The alias `live`, which receives the traffic. A deployment first checks the new version, then moves the traffic to it
 * step by step, and rolls back if the new version crashes or responds with error 500.
 *
 * Only the new version's own requests count, and its alarms are new with each release. So the current version's failures
 * cannot stop a fix. An unavailable database (error 429, 503 or 504) does not count either: a rollback would not repair
 * it.
 *
 * One error 500 or one crash is enough for a rollback. With `skipReleaseChecks` CloudFormation itself moves the alias,
 * without CodeDeploy.
 *
 * @default a tenth of the traffic for ten minutes, then all of it; in an ephemeral stack all at once
 */
export class Release extends Construct {
  readonly released: OperationFunction;
  readonly live: IFunction;
  /** The log of the pre-traffic check: which check failed, and what was seen. */
  readonly preTrafficLog: LogGroup;
  readonly #version: Version;

  constructor(scope: Construct, id: string, props: ReleaseProps) {
    super(scope, id);
    const { released, throwaway, skipReleaseChecks } = props;
    this.released = released;
    this.#version = released.lambda.currentVersion;
    // The types of CDK's classes and interfaces differ in `role`, so the compiler needs the casts.
    const alias = new Alias(this, 'Live', { aliasName: ALIAS, version: this.#version as IVersion });
    this.live = alias as IFunction;
    const hook = new PreTrafficHook(this, 'PreTrafficHook', { ...props, checked: released });
    this.preTrafficLog = hook.logGroup;
    const deployments = new LambdaDeploymentGroup(this, 'Deployments', {
      alias,
      deploymentConfig: throwaway
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      preHook: hook.lambda as IFunction,
      alarms: [
        this.#alarm('InternalErrors', this.#internalErrors(), 'responded with error 500'),
        this.#alarm('Crashes', this.#crashes(), 'crashed, ran out of memory or failed to start'),
      ],
    });
    hook.lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['codedeploy:GetDeployment'], resources: [deployments.deploymentGroupArn] }),
    );
    // Before the alias moves, the hook must have this release's checks, and CodeDeploy must be allowed to invoke it.
    alias.node.addDependency(hook.lambda, deployments.role);
    acknowledgeVersions(deployments.role, hook.lambda);
    // Without its update policy, CloudFormation moves the alias itself. The rest stays for the next deployment.
    if (skipReleaseChecks) (alias.node.defaultChild as CfnResource).addDeletionOverride('UpdatePolicy');
    Validations.of(deployments).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'It is AWS’s own least set of permissions for CodeDeploy to move an alias.',
    });
  }

  /** Requests to which the version responded with error 500, counted from its log. */
  #internalErrors(): Metric {
    const { logGroup, operation } = this.released;
    const [metricNamespace, metricName] = [Stack.of(this).stackName, 'InternalErrors'];
    new MetricFilter(this, 'InternalErrorsFilter', {
      logGroup,
      filterPattern: FilterPattern.literal('{ $.message.error = 500 }'),
      metricNamespace,
      metricName,
      metricValue: '1',
      dimensions: { operation: '$.message.operation', version: '$.message.version' },
    });
    const dimensionsMap = { operation: operation.operationId, version: this.#version.version };
    return new Metric({ namespace: metricNamespace, metricName, dimensionsMap });
  }

  /** Invocations of the version through the alias that crashed ("Types of metrics for Lambda functions"). */
  #crashes(): Metric {
    const { functionName } = this.released.lambda;
    return new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Errors',
      dimensionsMap: {
        FunctionName: functionName,
        Resource: `${functionName}:${ALIAS}`,
        ExecutedVersion: this.#version.version,
      },
    });
  }

  /** One alarm per version: an updated alarm would keep the previous version's state. */
  #alarm(id: string, metric: Metric, failed: string): IAlarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `The version of ${this.released.operation.operationId} that was released last ${failed}. While it has only a part of the traffic, its release rolls back. First: run the saved query "faults". This alarm notifies nobody: the person who deploys sees the deployment fail. More: docs/operations.md.`,
      metric: metric.with({ statistic: Stats.SUM, period: Duration.minutes(1) }),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const { logicalId: versionId } = this.#version.node.defaultChild as CfnVersion;
    const resource = alarm.node.defaultChild as CfnAlarm;
    const stack = Stack.of(this);
    const alarmId: string = stack.resolve(resource.logicalId);
    // The version's id ends with a hash of its code and configuration, which CDK knows only at synthesis.
    const hashed = () => alarmId + String(stack.resolve(versionId)).slice(-32);
    resource.overrideLogicalId(Lazy.uncachedString({ produce: hashed }));
    return alarm;
  }
}
