import { Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmProps,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Operation, type Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Outcomes } from './outcomes.ts';

interface AlarmsProps {
  outcomes: Outcomes;
  createPlant: IFunction;
  restApi: RestApi;
  plants: Table;
  accessTokens: Table;
  email: string | undefined;
  removalPolicy: RemovalPolicy;
}

const MINUTE = Duration.minutes(1);

/**
 * What a person is called for. Each alarm's description says what it means and what to do first; all
 * go to one encrypted topic, and from there to an e-mail address where one is given.
 */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  /** Those that show a bad release. They do not depend on the API. */
  readonly rollBack: Alarm[];
  readonly #action: SnsAction;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { outcomes, createPlant, restApi, plants, accessTokens } = props;
    this.#action = new SnsAction(this.#topic(props));

    const faults = this.#alarm('Faults', outcomes.faults(MINUTE), {
      threshold: 1,
      evaluationPeriods: 5,
      datapointsToAlarm: 2,
      alarmDescription:
        'Requests fail through faults of ours: error 500, 503 or 504. First: run the saved query "faults"; its cause names the step, its gatewayResponse what the gateway answered itself. A 503 or 504 is the store’s: see the DynamoDB alarms and the AWS Health Dashboard.',
    });
    const functionErrors = this.#alarm('FunctionErrors', createPlant.metricErrors({ period: MINUTE }), {
      threshold: 1,
      evaluationPeriods: 5,
      alarmDescription:
        'The function crashed, ran out of memory or failed to start, which it never should. First: look into its log for lines of level ERROR or FATAL, and roll back a release that came between the last good request and the first of them.',
      datapointsToAlarm: 1,
    });
    this.rollBack = [faults, functionErrors];

    this.#alarm('FunctionThrottles', createPlant.metricThrottles({ period: MINUTE }), {
      threshold: 1,
      evaluationPeriods: 5,
      datapointsToAlarm: 2,
      alarmDescription:
        'Lambda refuses to start the function: the account’s concurrency is used up. First: see who uses it (metric ConcurrentExecutions), then raise the quota "Concurrent executions".',
    });
    this.#alarm('Throttled', outcomes.throttled(MINUTE), {
      threshold: 10,
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      alarmDescription:
        'Callers get error 429. First: compare the request rate with the limit of the stack (context key requestsPerSecond); if it is below, the store throttles: see the alarm StoreThrottles.',
    });
    this.#alarm('Latency', slowRequests(restApi), {
      threshold: 1,
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      alarmDescription:
        'One request in a hundred, and at least three a minute, take longer than 2 s. First: on the dashboard, see whether it is the store (durations near 1 s a retry), cold starts, or the gateway.',
    });
    this.#alarm(
      'StoreThrottles',
      total([
        plants.metric('WriteThrottleEvents', { statistic: Stats.SUM }),
        accessTokens.metric('ReadThrottleEvents', { statistic: Stats.SUM }),
      ]),
      {
        threshold: 1,
        evaluationPeriods: 5,
        datapointsToAlarm: 3,
        alarmDescription:
          'DynamoDB throttles a table. First: see which of the two, and whether the load rose faster than twice in half an hour; then raise its warm throughput or the account’s table quota.',
      },
    );
    this.#alarm(
      'StoreErrors',
      total([
        plants.metricSystemErrorsForOperations({ operations: [Operation.PUT_ITEM] }),
        accessTokens.metricSystemErrorsForOperations({ operations: [Operation.GET_ITEM] }),
      ]),
      {
        threshold: 5,
        evaluationPeriods: 5,
        datapointsToAlarm: 3,
        alarmDescription:
          'DynamoDB fails inside. The function retries, so callers may not notice. First: the AWS Health Dashboard of the region; nothing here mends it.',
      },
    );
    this.#alarm('Unauthorized', outcomes.errors(401).with({ period: Duration.minutes(5) }), {
      threshold: 100,
      evaluationPeriods: 1,
      datapointsToAlarm: 1,
      alarmDescription:
        'A hundred requests in five minutes had no valid token. First: run the saved query "callers without a token"; one address that tries many is guessing, many addresses at once lost a token that expired or was revoked.',
    });
  }

  #alarm(
    id: string,
    metric: IMetric,
    props: Omit<AlarmProps, 'metric'> & Required<Pick<AlarmProps, 'alarmDescription' | 'datapointsToAlarm'>>,
  ): Alarm {
    const alarm = new Alarm(this, id, {
      metric,
      // No requests are no fault.
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
      alarmDescription: `${props.alarmDescription} More: docs/operations.md.`,
    });
    alarm.addAlarmAction(this.#action);
    alarm.addOkAction(this.#action);
    this.all.push(alarm);
    return alarm;
  }

  #topic({ email, removalPolicy }: AlarmsProps): Topic {
    // CloudWatch may not use the key that AWS manages for SNS.
    const masterKey = new Key(this, 'TopicKey', {
      description: `Encrypts the alarms of ${Stack.of(this).stackName}`,
      enableKeyRotation: true,
      removalPolicy,
    });
    const topic = new Topic(this, 'Topic', { masterKey, enforceSSL: true });
    const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
    const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    masterKey.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudWatch],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions,
      }),
    );
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [cloudWatch],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions,
      }),
    );
    if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}

/**
 * The percentage of a minute's requests that took longer than 2 s; 0 where fewer than three did, which on a quiet
 * stack are cold starts. It is counted, since a percentile wants 1,000 requests a minute for a 99th ("Percentile-based
 * alarms and low data samples").
 */
function slowRequests(restApi: RestApi): MathExpression {
  const latency = (statistic: string) => restApi.metricLatency({ statistic, period: MINUTE });
  return new MathExpression({
    label: 'Slow requests, %',
    expression: 'IF(FILL(slow, 0) >= 3, 100 * FILL(slow, 0) / FILL(requests, 1), 0)',
    usingMetrics: { slow: latency('TC(2000:)'), requests: latency(Stats.SAMPLE_COUNT) },
    period: MINUTE,
  });
}

/**
 * The sum of two counts, of which either may have no data. It always has: an alarm on a metric of DynamoDB that lacks
 * data keeps its state, whatever it is told of missing data ("PutMetricAlarm").
 */
function total([plants, accessTokens]: [IMetric, IMetric]): MathExpression {
  return new MathExpression({
    expression: 'FILL(plants, 0) + FILL(accessTokens, 0)',
    usingMetrics: { plants, accessTokens },
    period: MINUTE,
  });
}
