import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EVERYTHING, templateWith } from '../../test/support/stack.ts';

const production = templateWith();
const everything = templateWith(EVERYTHING);
const ALARM = 'AWS::CloudWatch::Alarm';
const topic = production.refTo('AWS::SNS::Topic');

test('each alarm but those of a version notifies the topic, which sends emails, and only Silence rings without data', () => {
  for (const { AlarmName, AlarmActions, OKActions, TreatMissingData } of everything.allPropertiesOf(ALARM)) {
    const actions = AlarmName.includes('-Version') ? undefined : [topic];
    const missing = AlarmName.endsWith('-Silence') ? 'breaching' : 'notBreaching';
    expect([AlarmActions, OKActions, TreatMissingData], AlarmName).toEqual([actions, actions, missing]);
  }
  const subscription = { Protocol: 'email', Endpoint: 'ops@example.com', TopicArn: topic };
  expect(everything.propertiesOf('AWS::SNS::Subscription')).toEqual(subscription);
});

const WITH_ZEROS = ['Faults', 'Crashes', 'FunctionThrottles', 'Throttled', 'Latency', 'Silence'];
test.each(WITH_ZEROS)('the alarm %s takes missing data as 0, not as older minutes', (name) => {
  const { Metrics } = everything.propertiesOf(ALARM, `Alarms${name}`);
  expect(Metrics, 'an expression, which can replace missing data').toBeDefined();
  const [{ Expression }, ...inputs] = Metrics;
  const unfilled = Expression.replaceAll(/FILL\(\w+, [01]\)/g, '');
  for (const { Id } of inputs) expect(unfilled).not.toContain(Id);
});

const nameOf = ({ Name }: { Name: string }) => Name;
test('each alarm watches its metrics, of the live alias or of the new version', () => {
  const watched = everything.allPropertiesOf(ALARM).map(({ AlarmName, Metrics = [], ...alarm }) => {
    const inputs = Metrics.flatMap(({ MetricStat = [] }) => MetricStat);
    if (alarm.MetricName) inputs.push({ Metric: alarm, Stat: alarm.Statistic });
    const texts = inputs.map(({ Metric: { Namespace, MetricName, Dimensions = [] }, Stat }: (typeof inputs)[number]) =>
      [MetricName.replace(/\${.*}/, 'N'), Stat, 'of', Namespace, ...Dimensions.map(nameOf)].join(' '),
    );
    return [/PlantStore-production-(\w+)/.exec(AlarmName)?.[1], texts.join(', ')];
  });
  // Those of PlantStore-production have no dimensions, so that CloudWatch adds up both logs.
  expect(Object.fromEntries(watched)).toEqual({
    Faults: 'Faults Sum of PlantStore-production',
    Crashes: 'Errors Sum of AWS/Lambda FunctionName Resource',
    FunctionThrottles: 'Throttles Sum of AWS/Lambda FunctionName Resource',
    Throttled: 'Throttled Sum of PlantStore-production',
    Latency: 'Latency PR(2000:60000) of AWS/ApiGateway ApiName, Latency SampleCount of AWS/ApiGateway ApiName',
    Unauthorized: 'Unauthorized Sum of PlantStore-production',
    Flood: 'Count SampleCount of AWS/ApiGateway ApiName',
    Silence: 'Succeeded Sum of PlantStore-production',
    VersionInternalErrors: 'InternalErrors-N Sum of PlantStore-production',
    VersionCrashes: 'Errors Sum of AWS/Lambda ExecutedVersion FunctionName Resource',
  });
});

test('the alarm Flood rings above the limit of the stage', () => {
  const { Period, Threshold, ComparisonOperator } = everything.propertiesOf(ALARM, 'AlarmsFlood');
  expect([Period, Threshold, ComparisonOperator]).toEqual([60, 60 * 500 + 1, 'GreaterThanOrEqualToThreshold']);
});

test('each email leads to a section of docs/operations.md, and each query that an alarm names is saved', () => {
  const headings = readFileSync('docs/operations.md', 'utf8').matchAll(/^#+ (.+)$/gm);
  const sections = [...headings].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'));
  const queries = everything.allPropertiesOf('AWS::Logs::QueryDefinition').map(({ Name }) => Name);
  const [{ InputTransformer }] = everything.propertiesOf('AWS::Events::Rule').Targets;
  const emails = [InputTransformer.InputTemplate];
  for (const { AlarmActions, AlarmDescription } of everything.allPropertiesOf(ALARM)) {
    if (AlarmActions) emails.push(AlarmDescription);
    const [, query] = / saved query "(.+?)"/.exec(AlarmDescription) ?? [];
    if (query !== undefined) expect(queries).toContain(`PlantStore-production/${query}`);
  }
  const links = emails.map((email) => /https:\/\/example\.com\/operations\.md#([\w-]+)/.exec(email)?.[1]);
  expect(sections).toEqual(expect.arrayContaining(links));
});

test('each saved query reads the function’s log and the access log', () => {
  const both = ['FunctionLogs', 'ApiAccessLog'].map((name) => production.refTo('AWS::Logs::LogGroup', name));
  for (const { Name, LogGroupNames } of production.allPropertiesOf('AWS::Logs::QueryDefinition')) {
    expect(LogGroupNames, Name).toEqual(both);
  }
});

test('the topic gets each release of this stack that fails or is stopped', () => {
  const application = [production.refTo('AWS::CodeDeploy::Application')];
  const { EventPattern, Targets } = production.propertiesOf('AWS::Events::Rule');
  // "Monitoring deployments with Amazon CloudWatch Events", AWS CodeDeploy User Guide.
  expect(EventPattern).toEqual({
    source: ['aws.codedeploy'],
    'detail-type': ['CodeDeploy Deployment State-change Notification'],
    detail: { application, state: ['FAILURE', 'STOP'] },
  });
  expect(Targets).toMatchObject([{ Arn: topic }]);
});

test('only CloudWatch and EventBridge can use the topic and its key, and only with TLS', () => {
  const Condition = { StringEquals: { 'aws:SourceAccount': `\${AWS::AccountId}` } };
  const [cloudWatch, events] = ['cloudwatch', 'events'].map((name) => ({ Service: `${name}.amazonaws.com` }));
  const use = { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], Resource: '*' };
  expect(production.propertiesOf('AWS::KMS::Key').KeyPolicy.Statement).toEqual([
    // The account's IAM policies say who manages the key.
    { ...use, Action: 'kms:*', Principal: { AWS: `arn:\${AWS::Partition}:iam::\${AWS::AccountId}:root` } },
    { ...use, Principal: cloudWatch, Condition },
    { ...use, Principal: events },
  ]);
  const key = `\${${production.idOf('AWS::KMS::Key')}.Arn}`;
  expect(production.propertiesOf('AWS::SNS::Topic')).toEqual({ KmsMasterKeyId: key });
  const publish = { Effect: 'Allow', Action: 'sns:Publish', Resource: topic, Sid: expect.anything() };
  expect(production.propertiesOf('AWS::SNS::TopicPolicy').PolicyDocument.Statement).toEqual([
    { ...publish, Effect: 'Deny', Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    { ...publish, Principal: cloudWatch, Condition },
    { ...publish, Principal: events },
  ]);
});
