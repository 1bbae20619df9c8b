import { type CfnResource, Lazy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm, type IAlarm, type Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type CfnVersion, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { GrantedOperation, OperationFunction } from './functions.ts';
import { addMetricFilter, MINUTE } from './monitoring/metrics.ts';
import type { StackSettings } from './settings.ts';

const ALIAS = 'live';

interface CanaryReleaseProps extends Pick<StackSettings, 'ephemeral' | 'withoutCanary'> {
  /** The function behind the alias. */
  operationFunction: OperationFunction;
}

/**
 * The alias `live` of a function, which receives the traffic. A deployment moves 10 % of the traffic to the new version
 * for 10 minutes, then all of it; in an ephemeral stack all at once. CodeDeploy rolls back after one crash or one error
 * 500 of the new version. Each version has its own alarms, so that errors of the old version do not stop the
 * release that repairs it. Errors 429, 503 and 504 do not count, because a rollback does not repair the database.
 */
export class CanaryRelease extends Construct {
  readonly live: Alias;
  readonly operation: GrantedOperation;
  /** The name of its application in CodeDeploy. */
  readonly application: string;

  constructor(scope: Construct, id: string, { operationFunction, ephemeral, withoutCanary }: CanaryReleaseProps) {
    super(scope, id);
    const { lambda, logGroup, operation } = operationFunction;
    const { currentVersion, functionName } = lambda;
    const { version } = currentVersion;
    // The version is in the pattern and in the name, so that the metric never counts another version's errors.
    const internalErrors = addMetricFilter(
      logGroup,
      'InternalErrors',
      `${operation.operationId}-InternalErrors-${version}`,
      `$.message.error = 500 && $.message.version = "${version}"`,
    );
    // Failed invocations of this version through the alias ("Types of metrics for Lambda functions").
    const crashes = lambda.metricErrors({
      dimensionsMap: { FunctionName: functionName, Resource: `${functionName}:${ALIAS}`, ExecutedVersion: version },
      period: MINUTE,
    });

    // The cast is needed because CDK's class and interface have different types of `role`.
    this.live = new Alias(this, 'Live', { aliasName: ALIAS, version: currentVersion as IVersion });
    this.operation = operation;
    const deployments = new LambdaDeploymentGroup(this, 'Deployments', {
      alias: this.live,
      deploymentConfig: LambdaDeploymentConfig[ephemeral ? 'ALL_AT_ONCE' : 'CANARY_10PERCENT_10MINUTES'],
      alarms: [
        this.#addAlarm(
          'InternalErrors',
          operationFunction,
          internalErrors.metric({ statistic: Stats.SUM, period: MINUTE }),
          'responded with error 500',
        ),
        this.#addAlarm('Crashes', operationFunction, crashes, 'crashed, timed out, ran out of memory or did not start'),
      ],
    });
    this.application = deployments.application.applicationName;
    // The filter must exist before the alias moves, so that it counts the canary's first request.
    this.live.node.addDependency(internalErrors);
    // Without the update policy, CloudFormation moves the alias at once, without CodeDeploy.
    if (withoutCanary) (this.live.node.defaultChild as CfnResource).addDeletionOverride('UpdatePolicy');
    Validations.of(deployments).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'This is the AWS managed policy with the least permissions that CodeDeploy needs to move an alias.',
    });
  }

  /** Adds an alarm for each version: an updated alarm would keep the previous version's state. */
  #addAlarm(id: string, { lambda, operation }: OperationFunction, metric: Metric, failure: string): IAlarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `The newest version of ${operation.operationId} ${failure}. During a release, CodeDeploy rolls back. First: run the saved query "faults". This alarm sends no message. A failed release does.`,
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
