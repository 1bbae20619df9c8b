import { expect, test } from 'vitest';
import { EVERYTHING, onlyIdOf, onlyOf, propertiesOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith();
const topic = onlyIdOf(template, 'AWS::SNS::Topic');

/** The alarms that notify a person, by the second part of their names. */
function alarmsOf(stack = template): Record<string, Record<string, unknown>> {
  const notifying = Object.values(propertiesOf(stack, 'AWS::CloudWatch::Alarm')).filter((alarm) => alarm.AlarmActions);
  return Object.fromEntries(notifying.map((alarm) => [alarm.AlarmName.replace(/^PlantStore-/, ''), alarm]));
}

const functionId = onlyIdOf(template, 'AWS::Lambda::Function', 'CreatePlant');
const ofAlias = { FunctionName: functionId, Resource: `${functionId}:live` };
const ofApi = { ApiName: 'PlantStore' };
const metric = (Namespace: string, MetricName: string, dimensions?: object) => {
  const Dimensions = Object.entries(dimensions ?? {}).map(([Name, Value]) => ({ Name, Value }));
  return { Namespace, MetricName, ...(dimensions && { Dimensions }) };
};
const input = (Id: string, Stat: string, Metric: object) => {
  return { Id, MetricStat: { Metric, Period: 60, Stat }, ReturnData: false };
};
const sum = { Period: 60, Statistic: 'Sum' };
// With missing data, an alarm evaluates older periods, so an expression replaces missing values with 0.
const withZeros = (name: string) => [
  { Id: 'expr_1', Expression: 'FILL(count, 0)', ReturnData: true },
  input('count', 'Sum', metric('PlantStore', name)),
];
// The percentage of requests of more than 2 s, from three such requests in a minute on.
const slowRequests = [
  {
    Id: 'expr_1',
    Label: 'Slow requests, %',
    Expression: 'IF(FILL(slow, 0) >= 3, 100 * FILL(slow, 0) / FILL(requests, 1), 0)',
    ReturnData: true,
  },
  input('slow', 'TC(2000:)', metric('AWS/ApiGateway', 'Latency', ofApi)),
  input('requests', 'SampleCount', metric('AWS/ApiGateway', 'Latency', ofApi)),
];

test.each([
  ['Faults', 2, { Metrics: withZeros('Faults') }],
  ['Crashes', 1, { ...sum, ...metric('AWS/Lambda', 'Errors', ofAlias) }],
  ['FunctionThrottles', 2, { ...sum, ...metric('AWS/Lambda', 'Throttles', ofAlias) }],
  ['Throttled', 3, { Threshold: 10, Metrics: withZeros('Throttled') }],
  ['Latency', 3, { Metrics: slowRequests }],
  [
    'Unauthorized',
    1,
    { ...sum, Period: 300, ...metric('PlantStore', 'Unauthorized'), Threshold: 100, EvaluationPeriods: 1 },
  ],
  [
    'Flood',
    5,
    {
      Period: 60,
      Statistic: 'SampleCount',
      ...metric('AWS/ApiGateway', 'Count', ofApi),
      Threshold: 6000,
      ComparisonOperator: 'GreaterThanThreshold',
    },
  ],
])('the alarm %s notifies the topic after %i bad periods, and says what to do first', (name, periods, alarm) => {
  expect(alarmsOf()[name]).toEqual({
    AlarmName: `PlantStore-${name}`,
    AlarmDescription: expect.stringMatching(/^[A-Z].*\. First: .* More: docs\/operations\.md\.$/),
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    DatapointsToAlarm: periods,
    EvaluationPeriods: 5,
    Threshold: 1,
    TreatMissingData: 'notBreaching',
    AlarmActions: [topic],
    OKActions: [topic],
    ...alarm,
  });
});

test('with a runbookUrl, each alarm has a link to its section in the runbook', () => {
  const alarms = Object.entries(alarmsOf(templateWith(EVERYTHING)));
  expect(alarms).toHaveLength(7);
  for (const [name, { AlarmDescription }] of alarms) {
    const link = `https://example.com/operations.md#${name.toLowerCase()}`;
    expect(String(AlarmDescription).replace(/.* More: /, '')).toBe(link);
  }
});

test('a release that fails or is stopped is published to the topic, with a link to the runbook', () => {
  const stack = templateWith(EVERYTHING);
  const { EventPattern, Targets, State } = onlyOf(stack, 'AWS::Events::Rule');
  // "Monitoring deployments with Amazon CloudWatch Events".
  expect({ ...EventPattern, State }).toEqual({
    State: 'ENABLED',
    source: ['aws.codedeploy'],
    'detail-type': ['CodeDeploy Deployment State-change Notification'],
    detail: { application: [onlyIdOf(stack, 'AWS::CodeDeploy::Application', 'Release')], state: ['FAILURE', 'STOP'] },
  });
  const InputPathsMap = { 'detail-state': '$.detail.state', 'detail-deploymentId': '$.detail.deploymentId' };
  const InputTemplate =
    '"A release of PlantStore ended with <detail-state>. First: open CodeDeploy > Deployments > <detail-deploymentId>. More: https://example.com/operations.md#when-a-release-fails"';
  expect(Targets).toEqual([{ Id: 'Target0', Arn: topic, InputTransformer: { InputPathsMap, InputTemplate } }]);
});

test('only CloudWatch and EventBridge can use the topic and its key, and messages without TLS are rejected', () => {
  const Condition = { StringEquals: { 'aws:SourceAccount': 'AWS::AccountId' } };
  const [cloudWatch, events] = ['cloudwatch', 'events'].map((name) => ({ Service: `${name}.amazonaws.com` }));
  const use = { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], Resource: '*' };
  const publish = { Effect: 'Allow', Action: 'sns:Publish', Resource: topic };
  const { KeyPolicy, EnableKeyRotation } = onlyOf(template, 'AWS::KMS::Key');
  expect(onlyOf(template, 'AWS::SNS::Topic')).toEqual({ KmsMasterKeyId: `${onlyIdOf(template, 'AWS::KMS::Key')}.Arn` });
  expect(EnableKeyRotation).toBe(true);
  expect(KeyPolicy.Statement).toEqual([
    // The account's IAM policies say who manages the key.
    { ...use, Action: 'kms:*', Principal: { AWS: 'arn:AWS::Partition:iam::AWS::AccountId:root' } },
    { ...use, Principal: cloudWatch, Condition },
    { ...use, Principal: events },
  ]);
  const withoutTls = { Effect: 'Deny', Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
  expect(onlyOf(template, 'AWS::SNS::TopicPolicy').PolicyDocument.Statement).toEqual([
    { ...publish, ...withoutTls, Sid: 'AllowPublishThroughSSLOnly' },
    { ...publish, Principal: cloudWatch, Condition, Sid: '1' },
    { ...publish, Principal: events, Sid: '2' },
  ]);
});

test('the topic sends the alarms to the stage’s email address', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const subscription = { Protocol: 'email', Endpoint: 'ops@example.com', TopicArn: topic };
  expect(onlyOf(templateWith(EVERYTHING), 'AWS::SNS::Subscription')).toEqual(subscription);
});
