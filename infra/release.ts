import { Duration, Lazy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm, type IAlarm, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type CfnVersion, type IFunction, type IVersion, type Version } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledgeVersions, BeforeTraffic } from './before-traffic.ts';
import type { StackContext } from './context.ts';
import type { NamedTable } from './data.ts';
import type { OperationFunction } from './operation-function.ts';

const ALIAS = 'live';

/**
 * What callers reach: the alias `live`. A deployment first asks the new version by the smoke's rules, then moves the
 * alias to it step by step, and goes back where the new version crashes or answers error 500.
 *
 * Only the new version's own requests count, and its alarms are new with each release. So a fix is not stopped by what
 * the running version does. A database that is down (error 429, 503 or 504) does not count either: going back would
 * not mend it, and it must not keep a fix out.
 *
 * Defaults: a tenth of the traffic for ten minutes, then all of it; in a throw-away stack all at once. One error 500 or
 * one crash is enough to go back.
 */
export class Release extends Construct {
  readonly function: OperationFunction;
  readonly live: IFunction;
  /** What the function that asks a new version logs: which rule did not hold, and what was seen. */
  readonly proofLog: LogGroup;
  readonly #version: Version;

  constructor(scope: Construct, id: string, released: OperationFunction, tables: NamedTable[], context: StackContext) {
    super(scope, id);
    this.function = released;
    this.#version = released.lambda.currentVersion;
    // CDK's classes say `role: undefined` where its interfaces say `role?`; only the compiler minds.
    const alias = new Alias(this, 'Live', { aliasName: ALIAS, version: this.#version as IVersion });
    this.live = alias as IFunction;
    const { lambda, logGroup } = new BeforeTraffic(this, 'BeforeTraffic', released, this.#version as IVersion, tables);
    this.proofLog = logGroup;
    const deployments = new LambdaDeploymentGroup(this, 'Deployments', {
      alias,
      deploymentConfig: context.throwaway
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      preHook: lambda as IFunction,
      alarms: [
        this.#alarm('InternalErrors', this.#internalErrors(), 'answered error 500'),
        this.#alarm('Crashes', this.#crashes(), 'crashed, ran out of memory or failed to start'),
      ],
    });
    // Before the alias moves, that function must know the new version, and CodeDeploy must be allowed to call it.
    alias.node.addDependency(lambda, deployments.role);
    acknowledgeVersions(deployments.role, lambda);
    Validations.of(deployments).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'It is AWS’s own least set of permissions for CodeDeploy to move an alias.',
    });
  }

  /** Requests that the version answered with error 500, counted from its log. */
  #internalErrors(): Metric {
    const { logGroup, operation } = this.function;
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
    const { functionName } = this.function.lambda;
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

  /** An alarm under an id that is the version's too: a new one, for an updated one would keep the state of the old. */
  #alarm(id: string, metric: Metric, failed: string): IAlarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `The version of ${this.function.operation.operationId} that was released last ${failed}. While it has only a part of the traffic, its release goes back. First: run the saved query "faults". This alarm tells nobody: whoever deploys sees the deployment fail. More: docs/operations.md.`,
      metric: metric.with({ statistic: Stats.SUM, period: Duration.minutes(1) }),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const { logicalId: versionId } = this.#version.node.defaultChild as CfnVersion;
    const resource = alarm.node.defaultChild as CfnAlarm;
    const stack = Stack.of(this);
    const ownId: string = stack.resolve(resource.logicalId);
    // The version's id ends with a hash of its code and configuration, which is known when all of the stack is.
    const hashed = () => ownId + String(stack.resolve(versionId)).slice(-32);
    resource.overrideLogicalId(Lazy.uncachedString({ produce: hashed }));
    return alarm;
  }
}
