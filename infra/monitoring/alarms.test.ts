import { Match, type Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import {
  functionOf,
  onlyOf,
  propertiesOf,
  tableActions,
  templateWith,
  textOf,
  twoOperations,
  waterPlant,
} from '../../test/support/stack.ts';
import { ACTIONS, type Action, constructId, type Grants } from '../operations.ts';

interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

interface Alarm extends Metric {
  Metrics?: { Id: string; Expression?: string; MetricStat?: { Metric: Metric; Period: number; Stat: string } }[];
  AlarmDescription: string;
  ComparisonOperator: string;
  Threshold: number;
  DatapointsToAlarm: number;
  EvaluationPeriods: number;
  Period: number;
  Statistic: string;
  AlarmActions?: unknown[];
}

/** The alarms that call a person, by their names. */
function alarmsOf(stack: Template): Record<string, Alarm> {
  const all = Object.entries(propertiesOf(stack, 'AWS::CloudWatch::Alarm') as Record<string, Alarm>);
  const calling = all.filter(([, { AlarmActions }]) => AlarmActions);
  return Object.fromEntries(
    calling.map(([id, alarm]) => [id.replace(/^MonitoringAlarms(\w+)[0-9A-F]{8}$/, '$1'), alarm]),
  );
}

const metric = (stat: string, { Namespace, MetricName, Dimensions = [] }: Metric) =>
  [stat, Namespace, MetricName, ...Dimensions.map(({ Name, Value }) => `${Name}=${textOf(Value)}`)].join(' ');

/** The metrics that an alarm watches, by their ids in its expression. */
const watchedBy = ({ Metrics = [] }: Alarm) =>
  Metrics.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [[Id, metric(MetricStat.Stat, MetricStat.Metric)] as const] : [],
  );

/** When an alarm goes off, as in `Sum AWS/Lambda Errors >= 1 in 2 of 5 periods of 60 s`. */
function conditionOf(alarm: Alarm): string {
  const { Metrics = [], Threshold, DatapointsToAlarm, EvaluationPeriods } = alarm;
  const periods = new Set(Metrics.flatMap(({ MetricStat }) => MetricStat?.Period ?? []));
  const [period = alarm.Period, ...otherPeriods] = periods;
  expect({ operator: alarm.ComparisonOperator, otherPeriods }).toEqual({
    operator: 'GreaterThanOrEqualToThreshold',
    otherPeriods: [],
  });
  const expression = Metrics.find(({ Expression }) => Expression)?.Expression;
  const value = watchedBy(alarm).reduce(
    (text, [id, name]) => text.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), `[${name}]`),
    expression ?? Metrics[0]?.Id ?? `[${metric(alarm.Statistic, alarm)}]`,
  );
  return `${value} >= ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods} periods of ${period} s`;
}

const template = templateWith({});
const alarms = alarmsOf(template);

const latency = (stat: string) => `FILL([${stat} AWS/ApiGateway Latency ApiName=PlantStore]`;
const sumOf = (metrics: string[]) =>
  [...new Set(metrics)].map((name) => `FILL([Sum AWS/DynamoDB ${name}], 0)`).join(' + ');
const databaseErrors = tableActions.map(({ action, table }) => `SystemErrors Operation=${action} TableName=${table}`);
const databaseThrottles = tableActions.map(
  ({ action, table }) => `${ACTIONS[action]}ThrottleEvents TableName=${table}`,
);

// Every metric without data counts as 0: otherwise an alarm on a metric of DynamoDB would stay on in silence. No
// percentiles: they say nothing about a minute with few requests.
test('each alarm goes off on its condition', () => {
  expect(Object.fromEntries(Object.entries(alarms).map(([name, alarm]) => [name, conditionOf(alarm)]))).toEqual({
    Faults: 'FILL([Sum PlantStore Faults], 0) >= 1 in 2 of 5 periods of 60 s',
    Throttled: 'FILL([Sum PlantStore Throttled], 0) >= 10 in 3 of 5 periods of 60 s',
    Unauthorized: '[Sum PlantStore Unauthorized] >= 100 in 1 of 1 periods of 300 s',
    // The percentage of slow requests, 0 if fewer than three are slow.
    Latency: `IF(${latency('TC(2000:)')}, 0) >= 3, 100 * ${latency('TC(2000:)')}, 0) / ${latency('SampleCount')}, 1), 0) >= 1 in 3 of 5 periods of 60 s`,
    DatabaseErrors: `${sumOf(databaseErrors)} >= 5 in 3 of 5 periods of 60 s`,
    DatabaseThrottles: `${sumOf(databaseThrottles)} >= 1 in 3 of 5 periods of 60 s`,
    ...Object.fromEntries(
      twoOperations.flatMap((operation) => {
        const lambda = (name: string) => `[Sum AWS/Lambda ${name} FunctionName=${functionOf(template, operation).id}]`;
        return [
          [`${constructId(operation)}FunctionErrors`, `${lambda('Errors')} >= 1 in 1 of 5 periods of 60 s`],
          [`${constructId(operation)}FunctionThrottles`, `${lambda('Throttles')} >= 1 in 2 of 5 periods of 60 s`],
        ];
      }),
    ),
  });
});

test.each(Object.entries(alarms))('the alarm %s says what to do first, and notifies the topic', (_name, alarm) => {
  expect(alarm.AlarmDescription).toMatch(/^[A-Z].*\. First: .*docs\/operations\.md\.$/s);
  // The limit of "AWS::CloudWatch::Alarm".
  expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1024);
  const topic = { Ref: Object.keys(propertiesOf(template, 'AWS::SNS::Topic'))[0] };
  expect(alarm).toMatchObject({ TreatMissingData: 'notBreaching', AlarmActions: [topic], OKActions: [topic] });
});

const ALL = Object.keys(ACTIONS) as Action[];
const withGrants = (grants: Grants) => templateWith({}, [{ ...waterPlant, grants }]);

test.each<[Grants, number, number]>([
  [{ accessTokens: ['GetItem'] }, 1, 1],
  [{ plants: ALL, accessTokens: ['GetItem'] }, 9, 3],
  [{ plants: ALL, accessTokens: ['GetItem', 'Query'] }, 10, 3],
])('with the grants %j the alarms watch the errors of %i and the throttles of %i', (grants, errors, throttles) => {
  const { DatabaseErrors, DatabaseThrottles } = alarmsOf(withGrants(grants));
  expect(watchedBy(DatabaseErrors as Alarm)).toHaveLength(errors);
  expect(watchedBy(DatabaseThrottles as Alarm)).toHaveLength(throttles);
});

test('rejects more metrics than an alarm can watch', () => {
  expect(() => withGrants({ plants: ALL, accessTokens: ['GetItem', 'Query', 'Scan'] })).toThrow(
    'The operations use the tables in 11 ways, and a CloudWatch alarm watches at most 10 metrics: ',
  );
});

test('the topic is encrypted with a key that CloudWatch can use, and rejects messages without TLS', () => {
  const ofAccount = {
    Principal: { Service: 'cloudwatch.amazonaws.com' },
    Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
  };
  expect(onlyOf(template, 'AWS::SNS::Topic')).toHaveProperty('KmsMasterKeyId');
  template.hasResourceProperties('AWS::KMS::Key', {
    EnableKeyRotation: true,
    KeyPolicy: {
      Statement: Match.arrayWith([Match.objectLike({ Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], ...ofAccount })]),
    },
  });
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        Match.objectLike({ Action: 'sns:Publish', ...ofAccount }),
      ]),
    },
  });
});

test('the topic sends the alarms to alarmEmail', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const stack = templateWith({ alarmEmail: 'ops@example.com' });
  expect(onlyOf(stack, 'AWS::SNS::Subscription')).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
});
