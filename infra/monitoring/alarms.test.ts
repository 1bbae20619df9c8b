import { Match } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { EVERYTHING, onlyIdOf, onlyOf, propertiesOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith();
const topic = { Ref: onlyIdOf(template, 'AWS::SNS::Topic') };

/** The alarms that notify a person, by the second part of their names. */
function alarmsOf(stack = template): Record<string, Record<string, unknown>> {
  const notifying = Object.values(propertiesOf(stack, 'AWS::CloudWatch::Alarm')).filter((alarm) => alarm.AlarmActions);
  return Object.fromEntries(notifying.map((alarm) => [alarm.AlarmName.replace(/^PlantStore-/, ''), alarm]));
}

test('each alarm has its metric, its threshold, and the number of minutes in which it must be reached', () => {
  const inMinutes = (DatapointsToAlarm: number) => ({ DatapointsToAlarm, EvaluationPeriods: 5, Threshold: 1 });
  const perMinute = { Statistic: 'Sum', Period: 60 };
  // With missing data, an alarm evaluates older periods, so an expression replaces missing values with 0.
  const withZeros = (MetricName: string) => [
    { Expression: 'FILL(count, 0)', ReturnData: true },
    { Id: 'count', MetricStat: { Metric: { Namespace: 'PlantStore', MetricName }, Period: 60, Stat: 'Sum' } },
  ];
  const functionId = { Ref: onlyIdOf(template, 'AWS::Lambda::Function') };
  const ofAlias = [
    { Name: 'FunctionName', Value: functionId },
    { Name: 'Resource', Value: { 'Fn::Join': ['', [functionId, ':live']] } },
  ];
  const latency = (Id: string, Stat: string) => {
    const Dimensions = [{ Name: 'ApiName', Value: 'PlantStore' }];
    return { Id, MetricStat: { Metric: { MetricName: 'Latency', Dimensions }, Period: 60, Stat } };
  };
  const alarms = alarmsOf();
  expect(Object.keys(alarms)).toHaveLength(6);
  expect(alarms).toMatchObject({
    Faults: { ...inMinutes(2), Metrics: withZeros('Faults') },
    Crashes: { ...inMinutes(1), ...perMinute, MetricName: 'Errors', Dimensions: ofAlias },
    FunctionThrottles: { ...inMinutes(2), ...perMinute, MetricName: 'Throttles', Dimensions: ofAlias },
    Throttled: { ...inMinutes(3), Threshold: 10, Metrics: withZeros('Throttled') },
    // The percentage of requests of more than 2 s, from three such requests in a minute on.
    Latency: {
      ...inMinutes(3),
      Metrics: [
        { Expression: 'IF(FILL(slow, 0) >= 3, 100 * FILL(slow, 0) / FILL(requests, 1), 0)', ReturnData: true },
        latency('slow', 'TC(2000:)'),
        latency('requests', 'SampleCount'),
      ],
    },
    Unauthorized: { EvaluationPeriods: 1, Threshold: 100, MetricName: 'Unauthorized', Statistic: 'Sum', Period: 300 },
  });
});

test.each(Object.entries(alarmsOf()))('the alarm %s says what to do first, and notifies the topic', (_name, alarm) => {
  expect(alarm).toMatchObject({
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: 'notBreaching',
    AlarmActions: [topic],
    OKActions: [topic],
    AlarmDescription: expect.stringMatching(/^[A-Z].*\. First: .* More: docs\/operations\.md\.$/),
  });
});

test('with a runbookUrl, each alarm has a link to its section in the runbook', () => {
  for (const [name, { AlarmDescription }] of Object.entries(alarmsOf(templateWith(EVERYTHING)))) {
    const link = `https://example.com/operations.md#${name.toLowerCase()}`;
    expect(String(AlarmDescription).replace(/.* More: /, '')).toBe(link);
  }
});

test('a release that fails or is stopped is published to the topic, with a link to the runbook', () => {
  const stack = templateWith(EVERYTHING);
  const { EventPattern, Targets } = onlyOf(stack, 'AWS::Events::Rule');
  // "Monitoring deployments with Amazon CloudWatch Events".
  expect(EventPattern).toEqual({
    source: ['aws.codedeploy'],
    'detail-type': ['CodeDeploy Deployment State-change Notification'],
    detail: { application: [{ Ref: onlyIdOf(stack, 'AWS::CodeDeploy::Application') }], state: ['FAILURE', 'STOP'] },
  });
  expect(Targets[0].Arn).toEqual(topic);
  expect(Targets[0].InputTransformer.InputTemplate).toBe(
    '"A release of PlantStore ended with <detail-state>. First: open CodeDeploy > Deployments > <detail-deploymentId>. More: https://example.com/operations.md#when-a-release-fails"',
  );
});

test('the topic is encrypted with a key that its senders can use, and rejects messages without TLS', () => {
  const ofAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
  const cloudWatch = { Principal: { Service: 'cloudwatch.amazonaws.com' }, Condition: ofAccount };
  const keyArn = { 'Fn::GetAtt': [onlyIdOf(template, 'AWS::KMS::Key'), 'Arn'] };
  expect(onlyOf(template, 'AWS::SNS::Topic').KmsMasterKeyId).toEqual(keyArn);
  const use = (sender: object) => Match.objectLike({ Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], ...sender });
  const statements = [use(cloudWatch), use({ Principal: { Service: 'events.amazonaws.com' } })];
  template.hasResourceProperties('AWS::KMS::Key', {
    EnableKeyRotation: true,
    KeyPolicy: { Statement: Match.arrayWith(statements) },
  });
  const withoutTls = { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
  const publish = { Action: 'sns:Publish', ...cloudWatch };
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(withoutTls), Match.objectLike(publish)]) },
  });
});

test('the topic sends the alarms to the stage’s email address', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const subscription = { Protocol: 'email', Endpoint: 'ops@example.com' };
  expect(onlyOf(templateWith(EVERYTHING), 'AWS::SNS::Subscription')).toMatchObject(subscription);
});
