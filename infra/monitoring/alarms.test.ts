import { Match, type Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { type AlarmProperties, alarmStates, nameOf, type Samples } from '../../test/support/alarm-states.ts';
import {
  alarmName,
  defaultTemplate,
  functionOf,
  permissionsOf,
  releaseOf,
  templateWith,
  waterPlant,
  withWaterPlant,
} from '../../test/support/stack.ts';
import { ACTIONS, type Action, type GrantedOperation, grantedOperations, ownId } from '../operations.ts';

const template = defaultTemplate();
const operations = grantedOperations();
const alarms = alarmsOf(template);
/** Those that call a person. */
const telling = Object.fromEntries(Object.entries(alarms).filter(([, { AlarmActions }]) => AlarmActions));

function alarmsOf(
  stack: Template,
): Record<string, AlarmProperties & { AlarmDescription: string; AlarmActions: unknown; OKActions: unknown }> {
  const found = Object.entries(stack.findResources('AWS::CloudWatch::Alarm'));
  return Object.fromEntries(found.map(([id, { Properties }]) => [alarmName(id), Properties]));
}

const FAULTS = 'PlantStore Faults';
const THROTTLED = 'PlantStore Throttled';
const UNAUTHORIZED = 'PlantStore Unauthorized';
const LATENCY = 'AWS/ApiGateway Latency ApiName=PlantStore';

/** The metrics that DynamoDB has of what the functions of operations may do on the tables, by their roles. */
function databaseMetrics(stack: Template, ofStack: GrantedOperation[]) {
  const calls = ofStack
    .flatMap((operation) => permissionsOf(stack, functionOf(stack, operation).properties.Role['Fn::GetAtt'][0]))
    .flatMap((permission) => {
      const [, action = '', table = ''] = /^dynamodb:(\w+) (\w+)\.Arn$/.exec(permission) ?? [];
      return action === '' ? [] : [{ action, table }];
    });
  const unique = (names: string[]) => [...new Set(names)].toSorted();
  return {
    errors: unique(
      calls.map(({ action, table }) => `AWS/DynamoDB SystemErrors Operation=${action} TableName=${table}`),
    ),
    throttles: unique(
      calls.map(({ action, table }) => {
        const capacity = /^(Get|BatchGet|Query|Scan)/.test(action) ? 'Read' : 'Write';
        return `AWS/DynamoDB ${capacity}ThrottleEvents TableName=${table}`;
      }),
    ),
  };
}

const { errors: databaseErrors, throttles: databaseThrottles } = databaseMetrics(template, operations);

/** A minute without data. */
const _ = undefined;
/** Minutes of so many events, each a sample of 1, beside one of 0 for what was well. */
const counts = (...minutes: (number | undefined)[]) =>
  minutes.map((count) => (count === undefined ? [] : [...Array<number>(count).fill(1), 0]));
/** So many minutes of so many requests, the slow ones just above 2 s, the others just below. */
const minutes = (length: number, { requests, slow }: { requests: number; slow: number }) =>
  Array.from({ length }, () => [...Array<number>(slow).fill(2001), ...Array<number>(requests - slow).fill(1999)]);

type Row = [alarm: string, what: string, samples: Samples, states: string];

/** The alarms that take a release back. The version is the new one's; what others answer are other metrics. */
function rowsOfRelease(operation: GrantedOperation): Row[] {
  const { versionId } = releaseOf(template, operation);
  const { id } = functionOf(template, operation);
  const internalErrors = `PlantStore InternalErrors operation=${operation.operationId} version=${versionId}.Version`;
  const crashes = `AWS/Lambda Errors ExecutedVersion=${versionId}.Version FunctionName=${id} Resource=${id}:live`;
  return [
    [ownId(operation, 'ReleaseInternalErrors'), internalErrors],
    [ownId(operation, 'ReleaseCrashes'), crashes],
  ].flatMap(([alarm = '', metric = '']): Row[] => [
    // A canary has ten minutes and a tenth of the traffic: it cannot wait for a second one.
    [alarm, 'one request fails', { [metric]: counts(_, 0, 1, 0, _) }, '..!..'],
    [alarm, 'each request fails', { [metric]: counts(9, 9, 9) }, '!!!'],
    [alarm, 'no request fails', { [metric]: counts(0, 0, _, 0) }, '....'],
    [alarm, 'no request comes', { [metric]: counts(_, _, _) }, '...'],
  ]);
}

function rowsOf(operation: GrantedOperation): Row[] {
  const metric = (name: string) => `AWS/Lambda ${name} FunctionName=${functionOf(template, operation).id}`;
  const [functionErrors, functionThrottles] = [
    ownId(operation, 'FunctionErrors'),
    ownId(operation, 'FunctionThrottles'),
  ];
  return [
    [functionErrors, 'one crash', { [metric('Errors')]: counts(0, 1, 0, 0, _, _, _, _) }, '.!!!!!..'],
    [functionErrors, 'no crash', { [metric('Errors')]: counts(0, 0, _, 0, 0) }, '.....'],
    [functionThrottles, 'twice in five', { [metric('Throttles')]: counts(1, 0, _, 0, 1, 0, 0) }, '....!..'],
    [functionThrottles, 'twice in six', { [metric('Throttles')]: counts(1, 0, _, 0, 0, 1, 0) }, '.......'],
    [functionThrottles, 'none', { [metric('Throttles')]: counts(0, 0, 0, 0, 0) }, '.....'],
  ];
}

/** The alarm; what happens; the samples of each minute; the alarm's state after each, `.` for OK and `!` for ALARM. */
const rows: Row[] = [
  ['Faults', 'one in each of two minutes of five', { [FAULTS]: counts(1, _, 0, _, 1, _, _) }, '....!..'],
  ['Faults', 'one in each of two minutes of six', { [FAULTS]: counts(1, _, _, _, 0, 1, _) }, '.......'],
  ['Faults', 'a thousand in one minute', { [FAULTS]: counts(_, 1000, _, _, _, _, _) }, '.......'],
  ['Faults', 'the gateway cannot reach a function', { [FAULTS]: counts(0, 1, 9, 9, 0) }, '..!!!'],
  ['Faults', 'all is well', { [FAULTS]: counts(0, 0, 0, 0, 0) }, '.....'],
  ...operations.flatMap(rowsOf),
  ...operations.flatMap(rowsOfRelease),
  ['Throttled', 'ten in three of five', { [THROTTLED]: counts(10, _, 10, _, 10, _) }, '....!.'],
  ['Throttled', 'ten in three of six', { [THROTTLED]: counts(10, _, 10, _, _, 10, _) }, '.......'],
  ['Throttled', 'nine in each', { [THROTTLED]: counts(9, 9, 9, 9, 9) }, '.....'],
  ['Latency', 'a tenth is slow at 1 a second', { [LATENCY]: minutes(5, { requests: 60, slow: 6 }) }, '..!!!'],
  ['Latency', 'a tenth is slow at 100 a second', { [LATENCY]: minutes(3, { requests: 6_000, slow: 600 }) }, '..!'],
  ['Latency', 'one in a hundred is slow', { [LATENCY]: minutes(3, { requests: 300, slow: 3 }) }, '..!'],
  ['Latency', 'fewer than one in a hundred are', { [LATENCY]: minutes(5, { requests: 301, slow: 3 }) }, '.....'],
  ['Latency', 'three of three are slow', { [LATENCY]: minutes(3, { requests: 3, slow: 3 }) }, '..!'],
  ['Latency', 'two of two are, cold starts', { [LATENCY]: minutes(5, { requests: 2, slow: 2 }) }, '.....'],
  ['Latency', 'all is well', { [LATENCY]: minutes(5, { requests: 600, slow: 0 }) }, '.....'],
  [
    'Latency',
    'three slow minutes of five, then silence',
    { [LATENCY]: [...minutes(1, { requests: 60, slow: 6 }), [], [], ...minutes(2, { requests: 60, slow: 6 }), [], []] },
    '....!..',
  ],
  [
    'Latency',
    'three slow minutes of six',
    { [LATENCY]: [...minutes(1, { requests: 60, slow: 6 }), [], [], [], ...minutes(2, { requests: 60, slow: 6 })] },
    '......',
  ],
  ...databaseThrottles.flatMap((metric): Row[] => [
    ['DatabaseThrottles', `${metric} in three of five`, { [metric]: counts(1, _, 1, _, 1, _, _) }, '....!..'],
    ['DatabaseThrottles', `${metric} in three of six`, { [metric]: counts(1, _, 1, _, _, 1, _) }, '.......'],
    ['DatabaseThrottles', `none of ${metric}`, { [metric]: counts(0, 0, 0, 0, 0) }, '.....'],
  ]),
  [
    'DatabaseThrottles',
    'one after the other',
    { [databaseThrottles[0] ?? '']: counts(1, _, 1, _), [databaseThrottles[1] ?? '']: counts(_, 1, _, _) },
    '..!!',
  ],
  ...databaseErrors.flatMap((metric): Row[] => [
    ['DatabaseErrors', `five of ${metric} in three of five`, { [metric]: counts(5, _, 5, _, 5, _, _) }, '....!..'],
    ['DatabaseErrors', `five of ${metric} in three of six`, { [metric]: counts(5, _, 5, _, _, 5, _) }, '.......'],
    ['DatabaseErrors', `four of ${metric} in each`, { [metric]: counts(4, 4, 4, 4, 4) }, '.....'],
  ]),
  [
    'DatabaseErrors',
    'five of two calls together',
    { [databaseErrors[0] ?? '']: counts(2, 2, 2), [databaseErrors[1] ?? '']: counts(3, 3, 3) },
    '..!',
  ],
  ['Unauthorized', 'a hundred in five minutes', { [UNAUTHORIZED]: counts(20, 20, 20, 20, 20, 19, _) }, '....!..'],
  ['Unauthorized', 'a hundred in one minute', { [UNAUTHORIZED]: counts(100, _, _, _, _, _) }, '!!!!!.'],
  ['Unauthorized', 'a hundred in six minutes', { [UNAUTHORIZED]: counts(20, 20, 20, 20, 19, _, 1) }, '.......'],
];

test('there is an alarm for each thing that a person is called for', () => {
  expect(Object.keys(telling).toSorted()).toEqual(
    [
      'DatabaseErrors',
      'DatabaseThrottles',
      'Faults',
      'Latency',
      'Throttled',
      'Unauthorized',
      ...operations.flatMap((operation) => [ownId(operation, 'FunctionErrors'), ownId(operation, 'FunctionThrottles')]),
    ].toSorted(),
  );
});

test('the alarms on DynamoDB watch createPlant’s two calls', () => {
  expect(databaseErrors).toContain('AWS/DynamoDB SystemErrors Operation=PutItem TableName=DataPlants8CBE6BEF');
  expect(databaseErrors).toContain('AWS/DynamoDB SystemErrors Operation=GetItem TableName=DataAccessTokens854BD336');
});

const everyAction = Object.keys(ACTIONS) as Action[];
const granted = (grants: GrantedOperation['grants']): GrantedOperation[] => [{ ...waterPlant, grants }];

test.each([
  ['the contract', operations],
  ['two operations', withWaterPlant()],
  ['an operation that uses no plants', granted({ accessTokens: ['GetItem'] })],
  ['an operation that does with plants all that can be done', granted({ plants: everyAction })],
])('of %s the alarms on DynamoDB watch each call that the functions may make, and no other', (_what, those) => {
  const stack = templateWith({}, those);
  const watched = (name: string) =>
    alarmsOf(stack)[name]?.Metrics?.flatMap(({ MetricStat }) => (MetricStat ? nameOf(MetricStat.Metric) : []));
  const { errors, throttles } = databaseMetrics(stack, those);
  expect(watched('DatabaseErrors')?.toSorted()).toEqual(errors);
  expect(watched('DatabaseThrottles')?.toSorted()).toEqual(throttles);
});

test('an alarm watches ten ways in which operations use the tables; an eleventh is refused in a sentence', () => {
  const uses = (accessTokens: Action[]) => templateWith({}, granted({ plants: everyAction, accessTokens }));
  expect(() => uses(['GetItem', 'Query'])).not.toThrow();
  expect(() => uses(['GetItem', 'Query', 'Scan'])).toThrow(
    'The operations use the tables in 11 ways, and a CloudWatch alarm watches at most 10 metrics: ',
  );
});

test.each(Object.entries(telling))(
  'the alarm %s says what it means and what to do first, and tells the topic when it goes on and off',
  (_name, each) => {
    expect(each.AlarmDescription).toMatch(/^[A-Z].*\. First: .*docs\/operations\.md\.$/s);
    // "AWS::CloudWatch::Alarm" takes no more.
    expect(each.AlarmDescription.length).toBeLessThanOrEqual(1024);
    expect(each.TreatMissingData).toBe('notBreaching');
    expect(each.AlarmActions).toEqual([{ Ref: 'MonitoringAlarmsTopic63051086' }]);
    expect(each.OKActions).toEqual(each.AlarmActions);
  },
);

test('the topic is encrypted under a key that CloudWatch may use, and nobody may publish without TLS', () => {
  template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() });
  template.hasResourceProperties('AWS::KMS::Key', {
    EnableKeyRotation: true,
    KeyPolicy: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ]),
    },
  });
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        Match.objectLike({
          Action: 'sns:Publish',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ]),
    },
  });
});

test('nobody is mailed until an address is given', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  templateWith({ alarmEmail: 'ops@example.com' }).hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'email',
    Endpoint: 'ops@example.com',
  });
});

function statesOf(alarm: AlarmProperties | undefined, samples: Samples): string {
  if (!alarm) throw new Error('There is no such alarm.');
  const states = alarmStates(alarm, samples);
  return states.map((state) => (state === 'ALARM' ? '!' : '.')).join('');
}

test.each(rows)('the alarm %s: %s', (name, _what, samples, states) => {
  expect(statesOf(alarms[name], samples)).toBe(states);
});

test.each(Object.keys(alarms))('rows tell what puts the alarm %s on, and what does not', (name) => {
  const timelines = rows.filter(([alarm]) => alarm === name).map(([, , , states]) => states);
  expect(timelines).toContainEqual(expect.stringMatching(/!/));
  expect(timelines).toContainEqual(expect.stringMatching(/^\.+$/));
});

/** An alarm as text, changed so that it is another one, or left as it is where there is nothing to change. */
const changes: [what: string, change: (alarm: string) => string][] = [
  ['an average in the place of the sum', (alarm) => alarm.replaceAll('"Sum"', '"Average"')],
  ['the number of samples in the place of the sum', (alarm) => alarm.replaceAll('"Sum"', '"SampleCount"')],
  ['a percentile', (alarm) => alarm.replaceAll(/"Sum"|"TC\(2000:\)"/g, '"p99"')],
  ['2 s being 5 s', (alarm) => alarm.replaceAll('TC(2000:)', 'TC(5000:)')],
  ['2 s being 1 s', (alarm) => alarm.replaceAll('TC(2000:)', 'TC(1000:)')],
  ['a smaller guard', (alarm) => alarm.replace('>= 3', '>= 2')],
  ['a larger guard', (alarm) => alarm.replace('>= 3', '>= 4')],
  ['a period of another length', (alarm) => numbers(alarm, 'Period', (seconds) => (seconds === 60 ? 300 : 60))],
  ['a lower threshold', (alarm) => numbers(alarm, 'Threshold', (threshold) => threshold - 1)],
  ['a higher threshold', (alarm) => numbers(alarm, 'Threshold', (threshold) => threshold + 1)],
  ['one datapoint less to alarm', (alarm) => numbers(alarm, 'DatapointsToAlarm', (count) => count - 1)],
  ['one datapoint more to alarm', (alarm) => numbers(alarm, 'DatapointsToAlarm', (count) => count + 1)],
  ['one period less', (alarm) => numbers(alarm, 'EvaluationPeriods', (count) => count - 1)],
  ['one period more', (alarm) => numbers(alarm, 'EvaluationPeriods', (count) => count + 1)],
  ['another comparison', (alarm) => alarm.replace('GreaterThanOrEqualTo', 'GreaterThan')],
  ['a gap left as it is', (alarm) => alarm.replace(/FILL\((\w+), \d\)/, '$1')],
  ['another namespace', (alarm) => alarm.replace(/"Namespace":"[\w/]+"/, '"Namespace":"Other"')],
  ['another metric', (alarm) => alarm.replace(/"MetricName":"\w+"/, '"MetricName":"Invocations"')],
  ['another dimension', (alarm) => alarm.replace(/"Dimensions":\[/, '$&{"Name":"Resource","Value":"live"},')],
  [
    'a dimension where there is none',
    (alarm) =>
      alarm.includes('"Dimensions"')
        ? alarm
        : alarm.replace('"MetricName"', '"Dimensions":[{"Name":"operation","Value":"createPlant"}],$&'),
  ],
  ['an expression of what is not there', (alarm) => alarm.replace(/FILL\(\w+/, 'FILL(nothing')],
  ['a function that is not known here', (alarm) => alarm.replace('FILL', 'RATE')],
];

function numbers(alarm: string, property: string, change: (value: number) => number): string {
  return alarm.replaceAll(
    new RegExp(`"${property}":(\\d+)`, 'g'),
    (_all, value) => `"${property}":${change(Number(value))}`,
  );
}

const changed = Object.entries(alarms).flatMap(([name, alarm]) =>
  changes
    .map(([what, change]) => ({ name, what, before: JSON.stringify(alarm), after: change(JSON.stringify(alarm)) }))
    .filter(({ before, after }) => after !== before),
);

test.each(changed)('the rows of the alarm $name notice $what', ({ name, after }) => {
  const stillHolds = ([, , samples, states]: (typeof rows)[number]) => {
    try {
      return statesOf(JSON.parse(after), samples) === states;
    } catch {
      return false;
    }
  };
  expect(rows.filter(([alarm]) => alarm === name).every(stillHolds)).toBe(false);
});

/** An alarm on one metric, without metric math. */
const ofOne = (metric: Partial<AlarmProperties>): AlarmProperties => ({
  Period: 60,
  Threshold: 1,
  ComparisonOperator: 'GreaterThanOrEqualToThreshold',
  EvaluationPeriods: 1,
  TreatMissingData: 'notBreaching',
  ...metric,
});

test('an alarm on a percentile is refused: it sleeps through a quiet hour, however slow', () => {
  const Dimensions = [{ Name: 'ApiName', Value: 'PlantStore' }];
  const p99 = ofOne({ Namespace: 'AWS/ApiGateway', MetricName: 'Latency', Dimensions, ExtendedStatistic: 'p99' });
  const samples = { [LATENCY]: minutes(5, { requests: 60, slow: 6 }) };
  expect(() => alarmStates(p99, samples)).toThrow('p99 says nothing of a period with few samples');
});

test('an alarm on a metric of DynamoDB that has gaps is seen to stay on in silence', () => {
  const Dimensions = [{ Name: 'TableName', Value: { Ref: 'DataPlants8CBE6BEF' } }];
  const throttles = { Namespace: 'AWS/DynamoDB', MetricName: 'WriteThrottleEvents', Dimensions, Statistic: 'Sum' };
  expect(
    statesOf(ofOne(throttles), {
      'AWS/DynamoDB WriteThrottleEvents TableName=DataPlants8CBE6BEF': counts(0, 1, _, _, 0),
    }),
  ).toBe('.!!!.');
});
