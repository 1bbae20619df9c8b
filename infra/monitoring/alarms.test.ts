import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, inject, test } from 'vitest';
import { type AlarmProperties, alarmStates, type Samples } from '../../test/support/alarm-states.ts';

const template = Template.fromJSON(
  JSON.parse(readFileSync(join(inject('assembly'), 'PlantStore.template.json'), 'utf8')),
);
const alarms: Record<string, AlarmProperties> = Object.fromEntries(
  Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => [
    id.replace(/^MonitoringAlarms(\w+?)[0-9A-F]{8}$/, '$1'),
    Properties,
  ]),
);

const errors = (error: number) => `PlantStore Errors error=${error}`;
const ofFunction = (metric: string) => `AWS/Lambda ${metric} FunctionName=CreatePlantFunctionAE9062BF`;
const PLANTS = 'TableName=DataPlants8CBE6BEF';
const ACCESS_TOKENS = 'TableName=DataAccessTokens854BD336';
const WRITE_THROTTLES = `AWS/DynamoDB WriteThrottleEvents ${PLANTS}`;
const READ_THROTTLES = `AWS/DynamoDB ReadThrottleEvents ${ACCESS_TOKENS}`;
const PUT_ERRORS = `AWS/DynamoDB SystemErrors Operation=PutItem ${PLANTS}`;
const GET_ERRORS = `AWS/DynamoDB SystemErrors Operation=GetItem ${ACCESS_TOKENS}`;
const LATENCY = 'AWS/ApiGateway Latency ApiName=PlantStore';

/** A minute without data. */
const _ = undefined;
/** Minutes of so many events, each a sample of 1, beside one of 0 for what was well. */
const counts = (...minutes: (number | undefined)[]) =>
  minutes.map((count) => (count === undefined ? [] : [...Array<number>(count).fill(1), 0]));
/** So many minutes of so many requests, the slow ones just above 2 s, the others just below. */
const minutes = (length: number, { requests, slow }: { requests: number; slow: number }) =>
  Array.from({ length }, () => [...Array<number>(slow).fill(2001), ...Array<number>(requests - slow).fill(1999)]);

/** The alarm; what happens; the samples of each minute; the alarm's state after each, `.` for OK and `!` for ALARM. */
const rows: [alarm: string, what: string, samples: Samples, states: string][] = [
  ['Faults', 'one 500 in each of two minutes of five', { [errors(500)]: counts(1, _, _, _, 1, _, _) }, '....!..'],
  ['Faults', 'one 500 in each of two minutes of six', { [errors(500)]: counts(1, _, _, _, _, 1, _) }, '.......'],
  ['Faults', 'a thousand 500 in one minute', { [errors(500)]: counts(_, 1000, _, _, _, _, _) }, '.......'],
  ['Faults', 'a 503, then a 504', { [errors(503)]: counts(1, _), [errors(504)]: counts(_, 1) }, '.!'],
  ['Faults', 'the gateway cannot reach the function', { 'PlantStore GatewayFaults': counts(0, 1, 9, 9, 0) }, '..!!!'],
  ['Faults', 'the gateway answers what it should', { 'PlantStore GatewayFaults': counts(0, 0, 0, 0, 0) }, '.....'],
  ['FunctionErrors', 'one crash', { [ofFunction('Errors')]: counts(0, 1, 0, 0, _, _, _, _) }, '.!!!!!..'],
  ['FunctionErrors', 'no crash', { [ofFunction('Errors')]: counts(0, 0, _, 0, 0) }, '.....'],
  ['FunctionThrottles', 'twice in five', { [ofFunction('Throttles')]: counts(1, 0, _, 0, 1, 0, 0) }, '....!..'],
  ['FunctionThrottles', 'twice in six', { [ofFunction('Throttles')]: counts(1, 0, _, 0, 0, 1, 0) }, '.......'],
  ['FunctionThrottles', 'none', { [ofFunction('Throttles')]: counts(0, 0, 0, 0, 0) }, '.....'],
  ['Throttled', 'ten 429 in three of five', { [errors(429)]: counts(10, _, 10, _, 10, _) }, '....!.'],
  ['Throttled', 'ten 429 in three of six', { [errors(429)]: counts(10, _, 10, _, _, 10, _) }, '.......'],
  ['Throttled', 'nine 429 in each', { [errors(429)]: counts(9, 9, 9, 9, 9) }, '.....'],
  [
    'Throttled',
    'ten of store and gateway together',
    { [errors(429)]: counts(4, 4, 4), 'PlantStore GatewayThrottles': counts(6, 6, 6) },
    '..!',
  ],
  ['Latency', 'a tenth is slow at 1 a second', { [LATENCY]: minutes(5, { requests: 60, slow: 6 }) }, '..!!!'],
  ['Latency', 'a tenth is slow at 1,000 a second', { [LATENCY]: minutes(3, { requests: 60_000, slow: 6_000 }) }, '..!'],
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
  ['StoreThrottles', 'of plants in three of five', { [WRITE_THROTTLES]: counts(1, _, 1, _, 1, _, _) }, '....!..'],
  ['StoreThrottles', 'of plants in three of six', { [WRITE_THROTTLES]: counts(1, _, 1, _, _, 1, _) }, '.......'],
  [
    'StoreThrottles',
    'of plants, then of tokens',
    { [WRITE_THROTTLES]: counts(1, _, 1, _), [READ_THROTTLES]: counts(_, 1, _, _) },
    '..!!',
  ],
  ['StoreThrottles', 'none', { [READ_THROTTLES]: counts(0, 0, 0, 0, 0) }, '.....'],
  ['StoreErrors', 'five in three of five', { [PUT_ERRORS]: counts(5, _, 5, _, 5, _, _) }, '....!..'],
  ['StoreErrors', 'five in three of six', { [PUT_ERRORS]: counts(5, _, 5, _, _, 5, _) }, '.......'],
  ['StoreErrors', 'four in each', { [GET_ERRORS]: counts(4, 4, 4, 4, 4) }, '.....'],
  [
    'StoreErrors',
    'five of both tables together',
    { [PUT_ERRORS]: counts(2, 2, 2), [GET_ERRORS]: counts(3, 3, 3) },
    '..!',
  ],
  ['Unauthorized', 'a hundred in five minutes', { [errors(401)]: counts(20, 20, 20, 20, 20, 19, _) }, '....!..'],
  ['Unauthorized', 'a hundred in one minute', { [errors(401)]: counts(100, _, _, _, _, _) }, '!!!!!.'],
  ['Unauthorized', 'a hundred in six minutes', { [errors(401)]: counts(20, 20, 20, 20, 19, _, 1) }, '.......'],
];

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
  ['another metric', (alarm) => alarm.replace(/"MetricName":"\w+"/, '"MetricName":"Invocations"')],
  ['another dimension', (alarm) => alarm.replace(/"Dimensions":\[/, '$&{"Name":"Resource","Value":"live"},')],
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
  expect(statesOf(ofOne(throttles), { [WRITE_THROTTLES]: counts(0, 1, _, _, 0) })).toBe('.!!!.');
});
