import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { AlarmProps, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Alarm, ComparisonOperator, MathExpression, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Release } from '../release.ts';
import type { CompleteSettings } from '../settings.ts';
import { MINUTE } from './metric-filter.ts';
import { type MonitoredResources, stackMetric } from './metrics.ts';

/**
 * The minutes that an alarm with several datapoints evaluates. Metrics are one to three minutes late, and FILL makes
 * zeros of the minutes that are missing, so of 8 minutes, the last three can be wrong.
 */
const EVALUATED_MINUTES = 8;

type AlarmsProps = MonitoredResources & Pick<CompleteSettings, 'alarms' | 'requestsPerSecond'>;

/**
 * The alarms that notify a person, and the failures of releases. They are published to one encrypted topic, which sends
 * them to the stage's email address.
 *
 * Missing data is not breaching.
 */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  readonly topic: Topic;
  readonly #runbookUrl: string | undefined;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { release, api, requestsPerSecond, alarms: { email, runbookUrl } = {} } = props;
    this.#runbookUrl = runbookUrl;
    const { stackName, account } = Stack.of(this);
    // CloudWatch cannot use the AWS managed key of SNS.
    const masterKey = new Key(this, 'TopicKey', {
      description: `Encrypts the alarms of ${stackName}`,
      enableKeyRotation: true,
    });
    this.topic = new Topic(this, 'Topic', { masterKey, enforceSSL: true });
    const conditions = { StringEquals: { 'aws:SourceAccount': account } };
    // Also grants CloudWatch the use of the key.
    this.topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email));

    this.#addAlarm('Faults', withZeros(stackMetric(this, 'Faults')), {
      threshold: 1,
      evaluationPeriods: EVALUATED_MINUTES,
      datapointsToAlarm: 2,
      alarmDescription: 'Requests fail with error 500, 503 or 504. First: run the saved query "faults".',
    });
    this.#addAlarm('Crashes', withZeros(release.liveAlias.metricErrors({ period: MINUTE })), {
      threshold: 1,
      datapointsToAlarm: 1,
      alarmDescription:
        'The function crashed, timed out, ran out of memory or did not start. First: run the saved query "faults".',
    });
    this.#addAlarm('FunctionThrottles', withZeros(release.liveAlias.metricThrottles({ period: MINUTE })), {
      threshold: 1,
      evaluationPeriods: EVALUATED_MINUTES,
      datapointsToAlarm: 2,
      alarmDescription:
        'Lambda throttles the function: the account has no concurrency left, or somebody limited the function. First: open Lambda > Dashboard.',
    });
    this.#addAlarm('Throttled', withZeros(stackMetric(this, 'Throttled')), {
      threshold: 10,
      evaluationPeriods: EVALUATED_MINUTES,
      datapointsToAlarm: 3,
      alarmDescription: 'Clients get error 429. First: run the saved query "requests by client".',
    });
    this.#addAlarm('Latency', slowRequests(api.restApi), {
      threshold: 1,
      evaluationPeriods: EVALUATED_MINUTES,
      datapointsToAlarm: 3,
      alarmDescription: 'At least 1 % of requests take over 2 s. First: open the dashboard.',
    });
    this.#addAlarm('Unauthorized', stackMetric(this, 'Unauthorized').with({ period: Duration.minutes(5) }), {
      threshold: 100,
      evaluationPeriods: 1,
      datapointsToAlarm: 1,
      alarmDescription:
        'At least 100 requests in 5 minutes had no valid token. First: run the saved query "requests by client".',
    });
    // Each method has a limit of its own, so a flood of unknown paths costs money too.
    this.#addAlarm('Flood', api.restApi.metricCount({ period: MINUTE }), {
      threshold: requestsPerSecond * 60,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      datapointsToAlarm: 5,
      alarmDescription: `For 5 minutes, the API got more than ${requestsPerSecond} requests per second. First: run the saved query "requests by client".`,
    });
    this.#addReleaseRule(release);
  }

  /**
   * Publishes a sentence for each release that fails or is stopped ("Monitoring deployments with Amazon CloudWatch
   * Events").
   */
  #addReleaseRule(release: Release): void {
    const [id, state] = ['deploymentId', 'state'].map((name) => EventField.fromPath(`$.detail.${name}`));
    new Rule(this, 'FailedRelease', {
      description: 'A release failed or was stopped',
      eventPattern: {
        source: ['aws.codedeploy'],
        detailType: ['CodeDeploy Deployment State-change Notification'],
        detail: { application: [release.application], state: ['FAILURE', 'STOP'] },
      },
      targets: [
        new SnsTopic(this.topic, {
          message: RuleTargetInput.fromText(
            `A release of ${Stack.of(this).stackName} ended with ${state}. First: open CodeDeploy > Deployments > ${id}. More: ${this.#linkTo('When a release fails')}`,
          ),
        }),
      ],
    });
  }

  /** Returns the address of a section of docs/operations.md, or the name of the file. */
  #linkTo(section: string): string {
    if (this.#runbookUrl === undefined) return 'docs/operations.md.';
    return `${this.#runbookUrl}#${section.toLowerCase().replaceAll(' ', '-')}`;
  }

  /** Adds an alarm. `section` is the second part of its name, and its heading in docs/operations.md. */
  #addAlarm(
    section: string,
    metric: IMetric,
    props: Partial<AlarmProps> & { threshold: number; alarmDescription: string },
  ): void {
    const alarm = new Alarm(this, section, {
      metric,
      evaluationPeriods: 5,
      // Without requests there is no data, and nothing is broken.
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
      alarmName: `${Stack.of(this).stackName}-${section}`,
      alarmDescription: `${props.alarmDescription} More: ${this.#linkTo(section)}`,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
    this.all.push(alarm);
  }
}

/**
 * The percentage of requests per minute that took longer than 2 s. It is 0 for fewer than three slow requests, because
 * with little traffic these are cold starts. A p99 alarm would need 1,000 requests per minute ("Percentile-based alarms
 * and low data samples").
 */
function slowRequests(restApi: RestApi): MathExpression {
  const latency = (statistic: string) => restApi.metricLatency({ statistic, period: MINUTE });
  return new MathExpression({
    label: 'Slow requests, %',
    // Three slow requests of 281 are 2.9999999999999996.
    expression: 'IF(FILL(share, 0) * FILL(requests, 0) / 100 >= 2.5, FILL(share, 0), 0)',
    // Alarms accept PR with values of the metric, but TC only with percentages ("PutMetricAlarm"). No page shows a PR
    // without an upper bound. No request takes 60 s.
    usingMetrics: { share: latency('PR(2000:60000)'), requests: latency(Stats.SAMPLE_COUNT) },
    period: MINUTE,
  });
}

/**
 * The metric with 0 for missing data. With missing data, an alarm evaluates older periods ("Configuring how CloudWatch
 * alarms treat missing data").
 */
function withZeros(count: IMetric): MathExpression {
  return new MathExpression({ expression: 'FILL(count, 0)', usingMetrics: { count }, period: MINUTE });
}
