import { Match, type Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { onlyOf, propertiesOf, templateWith, twoOperations, waterPlant } from '../../test/support/stack.ts';
import { ACTIONS, type Action, constructId, type Grants } from '../operations.ts';

interface Alarm {
  AlarmDescription: string;
  Threshold: number;
  DatapointsToAlarm: number;
  EvaluationPeriods: number;
  Metrics?: { Id: string; Expression?: string; MetricStat?: { Period: number } }[];
  AlarmActions?: unknown[];
}

/** The alarms that call a person, by their names. */
function alarmsOf(stack: Template): Record<string, Alarm> {
  const all = Object.entries<Alarm>(propertiesOf(stack, 'AWS::CloudWatch::Alarm'));
  const calling = all.filter(([, { AlarmActions }]) => AlarmActions);
  return Object.fromEntries(
    calling.map(([id, alarm]) => [id.replace(/^MonitoringAlarms(\w+)[0-9A-F]{8}$/, '$1'), alarm]),
  );
}

const expressionOf = (alarm?: Alarm) => alarm?.Metrics?.find(({ Expression }) => Expression)?.Expression ?? '';

const template = templateWith({});
const alarms = alarmsOf(template);

test('each alarm goes off at its threshold in so many of the last minutes', () => {
  const conditions = Object.entries(alarms).map(([name, { Threshold, DatapointsToAlarm, EvaluationPeriods }]) => [
    name,
    `${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods}`,
  ]);
  expect(Object.fromEntries(conditions)).toEqual({
    Faults: '1 in 2 of 5',
    Throttled: '10 in 3 of 5',
    Unauthorized: '100 in 1 of 1',
    Latency: '1 in 3 of 5',
    DatabaseErrors: '5 in 3 of 5',
    DatabaseThrottles: '1 in 3 of 5',
    ...Object.fromEntries(twoOperations.map((operation) => [`${constructId(operation)}FunctionErrors`, '1 in 1 of 5'])),
    ...Object.fromEntries(
      twoOperations.map((operation) => [`${constructId(operation)}FunctionThrottles`, '1 in 2 of 5']),
    ),
  });
});

test.each([
  [2, 10, 0],
  [3, 300, 1],
  [3, 600, 0.5],
  [undefined, undefined, 0],
])('with %s slow requests of %s, the alarm Latency sees %s %%', (slow, requests, percentage) => {
  const value = new Function('slow', 'requests', 'FILL', 'IF', `return ${expressionOf(alarms['Latency'])}`);
  const fill = (count: number | undefined, missing: number) => count ?? missing;
  const choose = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
  expect(value(slow, requests, fill, choose)).toBe(percentage);
});

// Otherwise an alarm on a metric of DynamoDB would stay on in silence.
test.each(Object.entries(alarms))('the alarm %s takes missing data as good', (_name, alarm) => {
  expect(alarm).toMatchObject({ TreatMissingData: 'notBreaching' });
  expect(expressionOf(alarm).replaceAll(/FILL\(\w+, [01]\)/g, '')).not.toMatch(/[a-z]/);
});

test.each(Object.entries(alarms))('the alarm %s says what to do first, and notifies the topic', (_name, alarm) => {
  expect(alarm.AlarmDescription).toMatch(/^[A-Z].*\. First: .*docs\/operations\.md\.$/s);
  // The limit of "AWS::CloudWatch::Alarm".
  expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1024);
  const topic = { Ref: Object.keys(propertiesOf(template, 'AWS::SNS::Topic'))[0] };
  expect(alarm).toMatchObject({ AlarmActions: [topic], OKActions: [topic] });
});

const ALL = Object.keys(ACTIONS) as Action[];
const withGrants = (grants: Grants) => templateWith({}, [{ ...waterPlant, grants }]);

test.each<[Grants, number, number]>([
  [{ accessTokens: ['GetItem'] }, 1, 1],
  [{ plants: ALL, accessTokens: ['GetItem'] }, 9, 3],
  [{ plants: ALL, accessTokens: ['GetItem', 'Query'] }, 10, 3],
])('with the grants %j the alarms watch the errors of %i and the throttles of %i', (grants, errors, throttles) => {
  const { DatabaseErrors, DatabaseThrottles } = alarmsOf(withGrants(grants));
  const watched = (alarm?: Alarm) => alarm?.Metrics?.filter(({ MetricStat }) => MetricStat?.Period === 60);
  expect(watched(DatabaseErrors)).toHaveLength(errors);
  expect(watched(DatabaseThrottles)).toHaveLength(throttles);
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

test('the topic sends the alarms to alarmEmail', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const stack = templateWith({ alarmEmail: 'ops@example.com' });
  expect(onlyOf(stack, 'AWS::SNS::Subscription')).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
});
