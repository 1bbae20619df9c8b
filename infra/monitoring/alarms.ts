import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApiBase } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmProps,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { constructId } from '../operations.ts';
import type { StackSettings } from '../settings.ts';
import { byAction, byCapacity } from './database-metrics.ts';
import type { Monitored } from './monitored.ts';
import type { RequestMetrics } from './request-metrics.ts';

const MINUTE = Duration.minutes(1);
/** The most metrics that the expression of an alarm may have ("Limits", Amazon CloudWatch User Guide). */
const MAX_METRICS = 10;

interface AlarmsProps extends Omit<Monitored, 'releases'>, Pick<StackSettings, 'alarmEmail'> {
  requestMetrics: RequestMetrics;
}

/**
 * The alarms that call a person. All go to one encrypted topic, which sends them to `alarmEmail`.
 *
 * @default each alarm looks at the last five minutes
 */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { functions, api, requestMetrics } = props;
    this.topic = this.#encryptedTopic(props.alarmEmail);

    this.#alarm('Faults', total([requestMetrics.faults]), {
      threshold: 1,
      datapointsToAlarm: 2,
      alarmDescription:
        'Requests fail on our side: error 500, 503 or 504. First: run the saved query "faults". Its cause names the step that failed, its gatewayResponse the type of the gateway’s own response. A 503 or 504 comes from DynamoDB: see the alarms DatabaseThrottles and DatabaseErrors and the AWS Health Dashboard.',
    });
    for (const { operation, lambda } of functions) {
      this.#alarm(`${constructId(operation)}FunctionErrors`, lambda.metricErrors({ period: MINUTE }), {
        threshold: 1,
        datapointsToAlarm: 1,
        alarmDescription: `The function of ${operation.operationId} crashed, ran out of memory or failed to start, which it never should. First: search its log for lines of level ERROR or FATAL, and roll back a release that came between the last good request and the first of them.`,
      });
      this.#alarm(`${constructId(operation)}FunctionThrottles`, lambda.metricThrottles({ period: MINUTE }), {
        threshold: 1,
        datapointsToAlarm: 2,
        alarmDescription: `Lambda refuses to start the function of ${operation.operationId}: the account’s concurrency is used up. First: see who uses it (metric ConcurrentExecutions), then raise the quota "Concurrent executions".`,
      });
    }
    this.#alarm('Throttled', total([requestMetrics.throttled]), {
      threshold: 10,
      datapointsToAlarm: 3,
      alarmDescription:
        'Clients get error 429. First: compare the request rate with the limit of the stack (context key requestsPerSecond). If it is below, DynamoDB throttles: see the alarm DatabaseThrottles.',
    });
    this.#alarm('Latency', slowRequests(api.restApi), {
      threshold: 1,
      datapointsToAlarm: 3,
      alarmDescription:
        'One request in a hundred, and at least three a minute, take longer than 2 s. First: on the dashboard, see whether it is DynamoDB (durations near 1 s a retry), cold starts, or the gateway.',
    });
    const count = { statistic: Stats.SUM, period: MINUTE };
    this.#alarm('DatabaseThrottles', total(byCapacity(props, (capacity) => `${capacity}ThrottleEvents`, count)), {
      threshold: 1,
      datapointsToAlarm: 3,
      alarmDescription:
        'DynamoDB throttles a table. First: see which one, and whether the load rose faster than twice in half an hour; then raise its warm throughput or the account’s table quota.',
    });
    this.#alarm('DatabaseErrors', total(byAction(props, 'SystemErrors', count)), {
      threshold: 5,
      datapointsToAlarm: 3,
      alarmDescription:
        'DynamoDB has internal errors. The functions retry, so clients may not notice. First: look at the AWS Health Dashboard of the region; you cannot repair it here.',
    });
    this.#alarm('Unauthorized', requestMetrics.unauthorized.with({ period: Duration.minutes(5) }), {
      threshold: 100,
      evaluationPeriods: 1,
      datapointsToAlarm: 1,
      alarmDescription:
        'A hundred requests in five minutes had no valid token. First: run the saved query "callers without a token". One address that tries many is guessing; many addresses at once lost a token that expired or was revoked.',
    });
  }

  #alarm(id: string, metric: IMetric, props: Partial<AlarmProps> & Pick<AlarmProps, 'threshold'>): void {
    const alarm = new Alarm(this, id, {
      metric,
      evaluationPeriods: 5,
      // Without requests there is no data, and nothing is wrong.
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
      alarmDescription: `${props.alarmDescription} More: docs/operations.md.`,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
    this.all.push(alarm);
  }

  #encryptedTopic(email: string | undefined): Topic {
    // CloudWatch may not use the key that AWS manages for SNS.
    const masterKey = new Key(this, 'TopicKey', {
      description: `Encrypts the alarms of ${Stack.of(this).stackName}`,
      enableKeyRotation: true,
    });
    const topic = new Topic(this, 'Topic', { masterKey, enforceSSL: true });
    const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    // It grants the use of the key too.
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
    if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}

/**
 * The percentage of a minute's requests that took longer than 2 s; 0 if fewer than three did, because on a quiet stack
 * these are cold starts. Not a percentile: p99 needs 1,000 requests a minute ("Percentile-based alarms and low data
 * samples").
 */
function slowRequests(restApi: RestApiBase): MathExpression {
  const latency = (statistic: string) => restApi.metricLatency({ statistic, period: MINUTE });
  return new MathExpression({
    label: 'Share of slow requests, %',
    expression: 'IF(FILL(slow, 0) >= 3, 100 * FILL(slow, 0) / FILL(requests, 1), 0)',
    usingMetrics: { slow: latency('TC(2000:)'), requests: latency(Stats.SAMPLE_COUNT) },
    period: MINUTE,
  });
}

/**
 * The sum of counts, 0 for a count without data. Without data, an alarm looks back further than its evaluation periods
 * ("Configuring how CloudWatch alarms treat missing data"), and an alarm on a metric of DynamoDB keeps its state,
 * whatever `treatMissingData` is ("PutMetricAlarm").
 */
function total(counts: IMetric[]): MathExpression {
  if (counts.length > MAX_METRICS) {
    throw new Error(
      `The operations use the tables in ${counts.length} ways, and a CloudWatch alarm watches at most ${MAX_METRICS} metrics: give each table alarms of its own in infra/monitoring/alarms.ts.`,
    );
  }
  const usingMetrics = Object.fromEntries(counts.map((count, n) => [`count${n}`, count]));
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ expression, usingMetrics, period: MINUTE });
}
