import { expect, test } from 'vitest';
import {
  allPropertiesOf,
  EVERYTHING,
  idOf,
  namedValues,
  propertiesOf,
  templateWith,
} from '../../test/support/stack.ts';

const template = templateWith();
const everything = templateWith(EVERYTHING);
const topic = idOf(template, 'AWS::SNS::Topic');
const functionId = idOf(template, 'AWS::Lambda::Function');
const Dimensions = namedValues({ FunctionName: functionId, Resource: `${functionId}:live` });
const ofAlias = { Namespace: 'AWS/Lambda', Statistic: 'Sum', Period: 60, Dimensions };
const ofApi = { Namespace: 'AWS/ApiGateway', Dimensions: namedValues({ ApiName: 'PlantStore' }) };
const ofStack = { Namespace: 'PlantStore' };
const count = { ...ofApi, MetricName: 'Count', Statistic: 'SampleCount', Period: 60 };
const unauthorized = { ...ofStack, MetricName: 'Unauthorized', Statistic: 'Sum', Period: 300, EvaluationPeriods: 1 };
const result = (Expression: string) => ({ Id: 'expr_1', Expression, ReturnData: true });
const input = (Id: string, Stat: string, Metric: object) => {
  return { Id, MetricStat: { Metric, Period: 60, Stat }, ReturnData: false };
};
// With missing data, an alarm evaluates older periods, so an expression replaces missing values with 0.
const withZeros = (MetricName: string) => {
  return { Metrics: [result('FILL(count, 0)'), input('count', 'Sum', { ...ofStack, MetricName })] };
};
// The percentage of requests of more than 2 s, from three such requests in a minute on.
const slowRequests = [
  { ...result('IF(FILL(slow, 0) >= 3, 100 * FILL(slow, 0) / FILL(requests, 1), 0)'), Label: 'Slow requests, %' },
  input('slow', 'TC(2000:)', { ...ofApi, MetricName: 'Latency' }),
  input('requests', 'SampleCount', { ...ofApi, MetricName: 'Latency' }),
];

test.each([
  ['Faults', 2, withZeros('Faults')],
  ['Crashes', 1, { ...ofAlias, MetricName: 'Errors' }],
  ['FunctionThrottles', 2, { ...ofAlias, MetricName: 'Throttles' }],
  ['Throttled', 3, { ...withZeros('Throttled'), Threshold: 10 }],
  ['Latency', 3, { Metrics: slowRequests }],
  ['Unauthorized', 1, { ...unauthorized, Threshold: 100 }],
  ['Flood', 5, { ...count, Threshold: 6000, ComparisonOperator: 'GreaterThanThreshold' }],
])('the alarm %s notifies the topic after %i bad periods, and says what to do first', (name, periods, alarm) => {
  expect(propertiesOf(template, 'AWS::CloudWatch::Alarm', `Alarms${name}`)).toEqual({
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
  const { AlarmDescription } = propertiesOf(everything, 'AWS::CloudWatch::Alarm', `Alarms${name}`);
  expect(AlarmDescription).toMatch(new RegExp(` More: https://example.com/operations.md#${name.toLowerCase()}$`));
});

test('a release that fails or is stopped is published to the topic, with a link to the runbook', () => {
  const { Description: _, ...rule } = propertiesOf(everything, 'AWS::Events::Rule');
  const application = [idOf(everything, 'AWS::CodeDeploy::Application', 'Release')];
  // "Monitoring deployments with Amazon CloudWatch Events".
  const EventPattern = {
    source: ['aws.codedeploy'],
    'detail-type': ['CodeDeploy Deployment State-change Notification'],
    detail: { application, state: ['FAILURE', 'STOP'] },
  };
  const InputPathsMap = { 'detail-state': '$.detail.state', 'detail-deploymentId': '$.detail.deploymentId' };
  const InputTemplate =
    '"A release of PlantStore ended with <detail-state>. First: open CodeDeploy > Deployments > <detail-deploymentId>. More: https://example.com/operations.md#when-a-release-fails"';
  const Targets = [{ Id: 'Target0', Arn: topic, InputTransformer: { InputPathsMap, InputTemplate } }];
  expect(rule).toEqual({ State: 'ENABLED', EventPattern, Targets });
});

test('only CloudWatch and EventBridge can use the topic and its key, and only with TLS', () => {
  const Condition = { StringEquals: { 'aws:SourceAccount': 'AWS::AccountId' } };
  const [cloudWatch, events] = ['cloudwatch', 'events'].map((name) => ({ Service: `${name}.amazonaws.com` }));
  const use = { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], Resource: '*' };
  const Statement = [
    // The account's IAM policies say who manages the key.
    { ...use, Action: 'kms:*', Principal: { AWS: 'arn:AWS::Partition:iam::AWS::AccountId:root' } },
    { ...use, Principal: cloudWatch, Condition },
    { ...use, Principal: events },
  ];
  const { Description: _, ...key } = propertiesOf(template, 'AWS::KMS::Key');
  expect(key).toEqual({ EnableKeyRotation: true, KeyPolicy: { Version: '2012-10-17', Statement } });
  const KmsMasterKeyId = `${idOf(template, 'AWS::KMS::Key')}.Arn`;
  expect(propertiesOf(template, 'AWS::SNS::Topic')).toEqual({ KmsMasterKeyId });
  const publish = { Effect: 'Allow', Action: 'sns:Publish', Resource: topic, Sid: expect.anything() };
  expect(propertiesOf(template, 'AWS::SNS::TopicPolicy').PolicyDocument.Statement).toEqual([
    { ...publish, Effect: 'Deny', Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    { ...publish, Principal: cloudWatch, Condition },
    { ...publish, Principal: events },
  ]);
});

test('each query that an alarm names is saved', () => {
  const names = JSON.stringify(template).matchAll(/saved query \\+"(.*?)\\+"/g);
  const saved = Object.values(allPropertiesOf(template, 'AWS::Logs::QueryDefinition')).map(({ Name }) => Name);
  for (const [, name] of names) expect(saved).toContain(`PlantStore/${name}`);
});

test('the topic sends the alarms to the stage’s email address', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const subscription = { Protocol: 'email', Endpoint: 'ops@example.com', TopicArn: topic };
  expect(propertiesOf(everything, 'AWS::SNS::Subscription')).toEqual(subscription);
});
