import { Match, type Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { pascalCaseId } from '../../model/contract.ts';
import { allOperations, functionOf, onlyOf, propertiesOf, releaseOf, templateWith } from '../../test/support/stack.ts';

interface Alarm {
  AlarmDescription: string;
  Threshold: number;
  DatapointsToAlarm: number;
  EvaluationPeriods: number;
  ComparisonOperator: string;
  MetricName?: string;
  Period?: number;
  Statistic?: string;
  Metrics?: {
    Id: string;
    Expression?: string;
    MetricStat?: { Metric: { MetricName: string }; Period: number; Stat: string };
  }[];
  Dimensions?: unknown[];
  AlarmActions?: unknown[];
}

/** The alarms that notify a person, by name. */
function alarmsOf(stack: Template): Record<string, Alarm> {
  const all = Object.entries<Alarm>(propertiesOf(stack, 'AWS::CloudWatch::Alarm'));
  const notifying = all.filter(([, { AlarmActions }]) => AlarmActions);
  return Object.fromEntries(
    notifying.map(([id, alarm]) => [id.replace(/^MonitoringAlarms(\w+)[0-9A-F]{8}$/, '$1'), alarm]),
  );
}

const expressionOf = (alarm?: Alarm) => alarm?.Metrics?.find(({ Expression }) => Expression)?.Expression ?? '';

const template = templateWith({});
const alarms = alarmsOf(template);

/** Describes the metrics of an alarm, as in `Errors Sum 60`: their names, statistics and periods in seconds. */
function metricsOf({ MetricName, Statistic, Period, Metrics = [] }: Alarm): string {
  const inExpression = Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat] : []));
  const parts = inExpression.map(({ Metric, Stat, Period }) => [Metric.MetricName, Stat, Period].join(' '));
  return MetricName ? [MetricName, Statistic, Period].join(' ') : parts.join(', ');
}

test('each alarm has its metric, its threshold, and the number of periods in which it must be reached', () => {
  const conditions = Object.entries(alarms).map(([name, alarm]) => {
    expect(alarm.ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
    const { Threshold, DatapointsToAlarm, EvaluationPeriods } = alarm;
    return [name, `${metricsOf(alarm)}: ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods}`];
  });
  expect(Object.fromEntries(conditions)).toEqual({
    Faults: 'Faults Sum 60: 1 in 2 of 5',
    Throttled: 'Throttled Sum 60: 10 in 3 of 5',
    Unauthorized: 'Unauthorized Sum 300: 100 in 1 of 1',
    Latency: 'Latency TC(2000:) 60, Latency SampleCount 60: 1 in 3 of 5',
    ...Object.fromEntries(
      allOperations.map(pascalCaseId).flatMap((id) => [
        [`${id}Crashes`, 'Errors Sum 60: 1 in 1 of 5'],
        [`${id}FunctionThrottles`, 'Throttles Sum 60: 1 in 2 of 5'],
      ]),
    ),
  });
});

test('the alarm Latency counts the percentage of requests of more than 2 s, from three such requests in a minute on', () => {
  expect(expressionOf(alarms['Latency'])).toBe('IF(FILL(slow, 0) >= 3, 100 * FILL(slow, 0) / FILL(requests, 1), 0)');
  const statistics = alarms['Latency']?.Metrics?.map(({ Id, MetricStat }) => [Id, MetricStat?.Stat]);
  expect(Object.fromEntries(statistics ?? [])).toMatchObject({ slow: 'TC(2000:)', requests: 'SampleCount' });
});

test.each(Object.entries(alarms))(
  'the alarm %s says what to do first, notifies the topic, and ignores missing data',
  (_name, alarm) => {
    expect(alarm).toMatchObject({ TreatMissingData: 'notBreaching' });
    // With missing data, an alarm evaluates older periods, so an expression replaces missing values with 0.
    expect(expressionOf(alarm).replaceAll(/FILL\(\w+, [01]\)/g, '')).not.toMatch(/[a-z]/);
    expect(alarm.AlarmDescription).toMatch(/^[A-Z].*\. First: .*docs\/operations\.md\.$/s);
    // The limit of "AWS::CloudWatch::Alarm".
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1024);
    const topic = { Ref: Object.keys(propertiesOf(template, 'AWS::SNS::Topic'))[0] };
    expect(alarm).toMatchObject({ AlarmActions: [topic], OKActions: [topic] });
  },
);

test('with a runbookUrl, each alarm has a link to its section in the runbook', () => {
  for (const [name, { AlarmDescription }] of Object.entries(
    alarmsOf(templateWith({ alarms: { runbookUrl: 'https://a.x/b' } })),
  )) {
    const section = name.replace(/.*(?=Function|Crashes)/, '').toLowerCase();
    expect(AlarmDescription.replace(/.* More: /, '')).toBe(`https://a.x/b#${section}`);
  }
});

test.each(allOperations)('the alarms of $operationId count what its alias does', (operation) => {
  const { id } = functionOf(template, operation);
  for (const name of ['Crashes', 'FunctionThrottles']) {
    expect(alarms[pascalCaseId(operation) + name]?.Dimensions).toEqual([
      { Name: 'FunctionName', Value: { Ref: id } },
      { Name: 'Resource', Value: { 'Fn::Join': ['', [{ Ref: id }, ':live']] } },
    ]);
  }
});

test('a release that fails or is stopped is published to the topic, with a link to the runbook', () => {
  const stack = templateWith({ alarms: { runbookUrl: 'https://a.x/b' } });
  const { EventPattern, Targets } = onlyOf(stack, 'AWS::Events::Rule');
  const applications = allOperations.map((operation) => ({
    Ref: releaseOf(stack, operation).group.ApplicationName.Ref,
  }));
  // "Monitoring deployments with Amazon CloudWatch Events".
  expect(EventPattern).toEqual({
    source: ['aws.codedeploy'],
    'detail-type': ['CodeDeploy Deployment State-change Notification'],
    detail: { application: applications, state: ['FAILURE', 'STOP'] },
  });
  expect(Targets[0].Arn).toEqual({ Ref: Object.keys(propertiesOf(stack, 'AWS::SNS::Topic'))[0] });
  expect(Targets[0].InputTransformer.InputTemplate).toBe(
    '"A release of PlantStore ended with <detail-state>. First: run release <detail-deploymentId>. More: https://a.x/b#when-a-release-fails"',
  );
  const use = Match.objectLike({
    Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
    Principal: { Service: 'events.amazonaws.com' },
  });
  stack.hasResourceProperties('AWS::KMS::Key', { KeyPolicy: { Statement: Match.arrayWith([use]) } });
});

test('the topic is encrypted with a key that CloudWatch can use, and rejects messages without TLS', () => {
  const ofAccount = {
    Principal: { Service: 'cloudwatch.amazonaws.com' },
    Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
  };
  expect(onlyOf(template, 'AWS::SNS::Topic')).toHaveProperty('KmsMasterKeyId');
  const use = Match.objectLike({ Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], ...ofAccount });
  template.hasResourceProperties('AWS::KMS::Key', {
    EnableKeyRotation: true,
    KeyPolicy: { Statement: Match.arrayWith([use]) },
  });
  const withoutTls = { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
  const publish = { Action: 'sns:Publish', ...ofAccount };
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(withoutTls), Match.objectLike(publish)]) },
  });
});

test('the topic sends the alarms to the stage’s email address', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const stack = templateWith({ alarms: { email: 'ops@example.com' } });
  expect(onlyOf(stack, 'AWS::SNS::Subscription')).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
});
