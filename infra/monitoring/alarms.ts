import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type CfnAlarm,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { MINUTE } from '../metric-filter.ts';
import type { Release } from '../release.ts';
import type { CompleteSettings } from '../settings.ts';
import { type MonitoredResources, stackMetric } from './metrics.ts';
import { addTopic } from './topic.ts';

type AlarmsProps = MonitoredResources & Pick<CompleteSettings, 'alarms' | 'requestsPerSecond'>;

/** It rings if the metric reaches the threshold in `breaching` of the last `evaluated` periods. */
interface AlarmDefinition {
  metric: IMetric;
  threshold: number;
  periods: [breaching: number, evaluated: number];
  description: string;
  /** True if it also rings without data. Otherwise nothing is broken then, because there are no requests. */
  ringsWithoutData?: true;
}

/**
 * The alarms that notify a person, and the failures of releases. They are published to one encrypted topic, which sends
 * them to the stage's email address.
 */
export class Alarms extends Construct {
  readonly all: Alarm[];
  readonly topic: Topic;
  readonly #runbookUrl: string | undefined;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { release, alarms: { email, runbookUrl } = {} } = props;
    this.#runbookUrl = runbookUrl;
    this.topic = addTopic(this, email);
    this.all = Object.entries(this.#definitions(props)).map((entry) => this.#addAlarm(...entry));
    this.#addReleaseRule(release);
  }

  /**
   * The alarms by the second part of their names, which is also their heading in docs/operations.md. Metrics are one to
   * three minutes late, and FILL makes zeros of the missing minutes. So an alarm with FILL that needs several bad
   * minutes evaluates 8: with 5, three late ones would leave too few.
   */
  #definitions({
    release: { liveAlias },
    api,
    requestsPerSecond,
    alarms,
  }: AlarmsProps): Record<string, AlarmDefinition> {
    return {
      Faults: {
        metric: withZeros(stackMetric(this, 'Faults')),
        threshold: 1,
        periods: [2, 8],
        description: 'Requests fail with error 500, 503 or 504. First: run the saved query "faults".',
      },
      Crashes: {
        metric: withZeros(liveAlias.metricErrors({ period: MINUTE })),
        threshold: 1,
        periods: [1, 5],
        description:
          'The function crashed, timed out, ran out of memory or did not start. First: run the saved query "faults".',
      },
      FunctionThrottles: {
        metric: withZeros(liveAlias.metricThrottles({ period: MINUTE })),
        threshold: 1,
        periods: [2, 8],
        description:
          'Lambda throttles the function: the account has no concurrency left, or somebody limited the function. First: open Lambda > Dashboard.',
      },
      Throttled: {
        metric: withZeros(stackMetric(this, 'Throttled')),
        threshold: 10,
        periods: [3, 8],
        description: 'Clients get error 429. First: run the saved query "requests by client".',
      },
      Latency: {
        metric: slowRequests(api.restApi),
        threshold: 1,
        periods: [3, 8],
        description: 'At least 1 % of requests take over 2 s. First: open the dashboard.',
      },
      Unauthorized: {
        metric: stackMetric(this, 'Unauthorized').with({ period: Duration.minutes(5) }),
        threshold: 100,
        periods: [1, 1],
        description:
          'At least 100 requests in 5 minutes had no valid token. First: run the saved query "requests by client".',
      },
      // Each method has a limit of its own, so a flood of unknown paths costs money too.
      Flood: {
        metric: api.restApi.metricCount({ period: MINUTE }),
        threshold: requestsPerSecond * 60 + 1,
        periods: [5, 5],
        description: `For 5 minutes, the API got more than ${requestsPerSecond} requests per second. First: run the saved query "requests by client".`,
      },
      // This counts the function's successes, because API Gateway's count of requests includes preflights.
      ...(alarms?.hourlySmokeTest && {
        Silence: {
          metric: hoursWithoutSuccess(this),
          threshold: 1,
          periods: [3, 3],
          description: 'For 3 hours, no request succeeded. First: see the last run of the workflow "Smoke test".',
          ringsWithoutData: true,
        },
      }),
    };
  }

  #addAlarm(section: string, { periods, description, ringsWithoutData, ...others }: AlarmDefinition): Alarm {
    const [datapointsToAlarm, evaluationPeriods] = periods;
    const alarm = new Alarm(this, section, {
      ...others,
      datapointsToAlarm,
      evaluationPeriods,
      treatMissingData: ringsWithoutData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmName: `${Stack.of(this).stackName}-${section}`,
      alarmDescription: `${description} More: ${this.#linkTo(section)}`,
    });
    // Otherwise a new alarm would ring at once. Its periods need three hours, and their data some minutes more.
    if (ringsWithoutData) {
      (alarm.node.defaultChild as CfnAlarm).warmUpConfiguration = {
        warmUpPeriodDurationInMinutes: 240,
        onlyStartEvaluatingAfterWarmUpPeriodEnds: true,
      };
    }
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
    return alarm;
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
        detail: { application: [release.applicationName], state: ['FAILURE', 'STOP'] },
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
    // Not 3: because of rounding, three slow requests of 281 are 2.9999999999999996.
    expression: 'IF(FILL(share, 0) * FILL(requests, 0) / 100 >= 2.5, FILL(share, 0), 0)',
    // Alarms accept PR with values of the metric, but TC only with percentages ("PutMetricAlarm"). No page shows a PR
    // without an upper bound. No request takes 60 s.
    usingMetrics: { share: latency('PR(2000:60000)'), requests: latency(Stats.SAMPLE_COUNT) },
    period: MINUTE,
  });
}

/** 1 for an hour in which no request succeeded, and 0 for another one. */
function hoursWithoutSuccess(scope: Construct): MathExpression {
  const period = Duration.hours(1);
  const count = stackMetric(scope, 'Succeeded').with({ period });
  return new MathExpression({ expression: 'IF(FILL(count, 0) < 1, 1, 0)', usingMetrics: { count }, period });
}

/**
 * The metric with 0 for missing data. With missing data, an alarm evaluates older periods ("Configuring how CloudWatch
 * alarms treat missing data").
 */
function withZeros(count: IMetric): MathExpression {
  return new MathExpression({ expression: 'FILL(count, 0)', usingMetrics: { count }, period: MINUTE });
}
