import { type CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Construct } from 'constructs';
import { addMetricFilter, MINUTE } from './metric-filter.ts';
import type { CompleteSettings } from './settings.ts';

const ALIAS = 'live';

interface ReleaseProps extends Pick<CompleteSettings, 'ephemeral' | 'withoutCanary'> {
  lambda: NodejsFunction;
}

/**
 * The alias `live` of the function, which receives the traffic. A deployment moves 10 % of the traffic to the new
 * version for 10 minutes, then all of it; in an ephemeral stack all at once. CodeDeploy rolls back if an alarm counts a
 * crash or an error 500 of the new version before the deployment ends, or if a person chooses "Stop and roll back
 * deployment". The alarms are one to three minutes late, so they do not see the last minutes. Errors 429, 503 and 504
 * do not count, because a rollback does not repair the database.
 */
export class Release extends Construct {
  readonly liveAlias: Alias;
  readonly applicationName: string;

  constructor(scope: Construct, id: string, { lambda, ephemeral, withoutCanary }: ReleaseProps) {
    super(scope, id);
    // The cast is needed because CDK's class and interface have different types of `role`.
    this.liveAlias = new Alias(this, 'Live', { aliasName: ALIAS, version: lambda.currentVersion as IVersion });
    const deploymentGroup = new LambdaDeploymentGroup(this, 'Deployments', {
      alias: this.liveAlias,
      deploymentConfig: ephemeral
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      alarms: [this.#watchErrors500(lambda), this.#watchCrashes(lambda)],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    this.applicationName = deploymentGroup.application.applicationName;
    // Without the update policy, CloudFormation moves the alias at once, without CodeDeploy.
    if (withoutCanary) (this.liveAlias.node.defaultChild as CfnResource).addDeletionOverride('UpdatePolicy');
    Validations.of(deploymentGroup).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'This is the AWS managed policy with the least permissions that CodeDeploy needs to move an alias.',
    });
  }

  /** Adds the alarm for errors 500 of the newest version. */
  #watchErrors500({ currentVersion: { version }, logGroup }: NodejsFunction): Alarm {
    // The version is in the pattern and in the name, so that the metric never counts another version's errors.
    const errors = addMetricFilter(
      logGroup,
      'InternalErrors',
      `InternalErrors-${version}`,
      `$.message.error = 500 && $.message.version = "${version}"`,
    );
    // The filter must exist before the alias moves, so that it counts the canary's first request.
    this.liveAlias.node.addDependency(errors);
    const metric = errors.metric({ statistic: Stats.SUM, period: MINUTE });
    return this.#addAlarm('VersionInternalErrors', version, metric, 'responded with error 500');
  }

  /**
   * Adds the alarm for failed invocations of the newest version through the alias ("Types of metrics for Lambda
   * functions"). Outside of a release, the alias has one version, and Lambda may not report this dimension. The alias's
   * own metric also counts errors of the old version, which would stop the release that repairs them.
   */
  #watchCrashes(lambda: NodejsFunction): Alarm {
    const { currentVersion, functionName } = lambda;
    const { version } = currentVersion;
    const metric = lambda.metricErrors({
      dimensionsMap: { FunctionName: functionName, Resource: `${functionName}:${ALIAS}`, ExecutedVersion: version },
      period: MINUTE,
    });
    return this.#addAlarm('VersionCrashes', version, metric, 'crashed, timed out, ran out of memory or did not start');
  }

  /**
   * Adds an alarm of one version. Its name contains the version, because CloudFormation creates a new alarm for a new
   * name: an updated alarm would keep the state of the previous version.
   */
  #addAlarm(id: string, version: string, metric: Metric, failure: string): Alarm {
    return new Alarm(this, id, {
      alarmName: `${Stack.of(this).stackName}-${id}-${version}`,
      alarmDescription: `The newest version ${failure}. During a release, CodeDeploy rolls back. First: run the saved query "faults". This alarm sends no email. The failed release sends one.`,
      metric,
      threshold: 1,
      // An error's metric has the time of the invocation. One that arrives late falls into a period before the last.
      datapointsToAlarm: 1,
      evaluationPeriods: 5,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}
