import { textOf } from './intrinsics.ts';

/** The name and dimensions by which CloudWatch knows a metric; values from the template may be references. */
interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string | object }[];
}

interface MetricStat {
  Metric: Metric;
  /** In seconds. */
  Period: number;
  Stat: string;
}

interface MetricDataQuery {
  Id: string;
  Expression?: string;
  MetricStat?: MetricStat;
  ReturnData?: boolean;
}

/** The properties of an `AWS::CloudWatch::Alarm` that decide its state. */
export interface AlarmProperties extends Partial<Metric> {
  Period?: number;
  Statistic?: string;
  ExtendedStatistic?: string;
  Metrics?: MetricDataQuery[];
  Threshold: number;
  ComparisonOperator: string;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  TreatMissingData?: string;
}

/** Of each metric, by `Namespace MetricName Dimension=Value`, the samples of each minute. A minute of none has no data. */
export type Samples = Record<string, number[][]>;

export type AlarmState = 'OK' | 'ALARM';

/**
 * The state of an alarm after each minute, from OK on, as these samples come in. Each minute looks at the periods that
 * end with it, however long they are.
 *
 * Where a period has no data, CloudWatch may look back further than the evaluation periods, by a number that no page
 * names; this does not. It throws on what it does not know, on samples of a metric that the alarm does not watch, and
 * on what no alarm should rest on: percentiles, and metric math on gaps.
 *
 * Source: "Alarm evaluation" and "Configuring how CloudWatch alarms treat missing data" (Amazon CloudWatch User Guide).
 */
export function alarmStates(alarm: AlarmProperties, samples: Samples): AlarmState[] {
  const queries = alarm.Metrics ?? [queryOf(alarm)];
  const [result, ...otherResults] = queries.filter(({ ReturnData }) => ReturnData !== false);
  if (!result || otherResults.length > 0) throw new Error('An alarm watches exactly one result.');
  const metricStats = queries.flatMap(({ MetricStat }) => MetricStat ?? []);
  const [period = 0, ...otherPeriods] = new Set(metricStats.map(({ Period }) => Period / 60));
  if (period < 1 || !Number.isInteger(period) || otherPeriods.length > 0) {
    throw new Error('The metrics of an alarm have one period, of whole minutes.');
  }
  const watched = metricStats.map(({ Metric }) => nameOf(Metric));
  for (const name of Object.keys(samples)) {
    if (!watched.includes(name)) throw new Error(`The alarm does not watch ${name}, but ${watched.join(', ')}.`);
  }

  /** The value in the period that ends with this minute, or undefined where there is no data. */
  function datapoint(id: string, end: number): number | undefined {
    const query = queries.find(({ Id }) => Id === id);
    if (query?.Expression !== undefined) return evaluate(query.Expression, (operand) => datapoint(operand, end));
    if (!query?.MetricStat) throw new Error(`There is no metric ${id}.`);
    const { Metric, Stat } = query.MetricStat;
    const minutes = samples[nameOf(Metric)]?.slice(Math.max(end - period, 0), Math.max(end, 0)) ?? [];
    return statistic(Stat, minutes.flat());
  }

  const breaches = known(COMPARISONS, alarm.ComparisonOperator);
  // "PutMetricAlarm": an alarm on a metric of DynamoDB ignores missing data whatever it is told.
  const missing = metricStats.some(({ Metric }) => Metric.Namespace === 'AWS/DynamoDB')
    ? 'ignore'
    : alarm.TreatMissingData;
  const states: AlarmState[] = [];
  const minutes = Math.max(...Object.values(samples).map(({ length }) => length));
  for (let end = 1; end <= minutes; end++) {
    const datapoints = Array.from({ length: alarm.EvaluationPeriods }, (_, n) =>
      datapoint(result.Id, end - n * period),
    );
    const present = datapoints.filter((value) => value !== undefined);
    const breaching = present.filter((value) => breaches(value, alarm.Threshold));
    if (breaching.length >= (alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods)) states.push('ALARM');
    else if (breaching.length < present.length || missing === 'notBreaching') states.push('OK');
    else if (missing === 'ignore') states.push(states.at(-1) ?? 'OK');
    else throw new Error(`Missing data cannot be treated as ${missing} here.`);
  }
  return states;
}

/** An alarm on a single metric as one on a list of one. */
function queryOf(alarm: AlarmProperties): MetricDataQuery {
  const { Namespace, MetricName, Dimensions, Period, Statistic, ExtendedStatistic } = alarm;
  const Stat = Statistic ?? ExtendedStatistic;
  if (Namespace === undefined || MetricName === undefined || Period === undefined || Stat === undefined) {
    throw new Error('The alarm has neither metrics nor a metric.');
  }
  const Metric = { Namespace, MetricName, ...(Dimensions && { Dimensions }) };
  return { Id: 'metric', MetricStat: { Metric, Period, Stat } };
}

/** A metric's name, as in `AWS/Lambda Errors FunctionName=F`. */
export function nameOf({ Namespace, MetricName, Dimensions = [] }: Metric): string {
  const dimensions = Dimensions.map(({ Name, Value }) => `${Name}=${textOf(Value)}`);
  return [Namespace, MetricName, ...dimensions].join(' ');
}

/** Source: "CloudWatch statistics definitions". */
function statistic(name: string, samples: number[]): number | undefined {
  if (/^p\d/i.test(name)) {
    throw new Error(
      `${name} says nothing of a period with few samples ("Percentile-based alarms and low data samples"): count the slow ones.`,
    );
  }
  const sum = samples.reduce((a, b) => a + b, 0);
  const [, above] = /^TC\((\d+):\)$/.exec(name) ?? [];
  const value =
    above === undefined
      ? known({ Sum: sum, SampleCount: samples.length, Average: sum / samples.length }, name)
      : samples.filter((sample) => sample > Number(above)).length;
  return samples.length === 0 ? undefined : value;
}

const COMPARISONS: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
};

/** Of the binary operators, those of a row bind stronger than those of the rows before. */
const OPERATORS: Record<string, (a: number, b: number) => number>[] = [
  { '>=': (a, b) => Number(a >= b), '>': (a, b) => Number(a > b) },
  { '+': (a, b) => a + b },
  { '*': (a, b) => a * b, '/': divide },
];

/**
 * The value of an expression of metric math at one time.
 *
 * Source: "Using math expressions with CloudWatch metrics". What a gap counts as depends on the operator there; here
 * only FILL may be given one.
 */
function evaluate(expression: string, lookUp: (id: string) => number | undefined): number | undefined {
  const tokens = expression.match(/[A-Za-z]\w*|\d+(\.\d+)?|>=|\S/g) ?? [];

  function expect(token: string): void {
    const found = tokens.shift();
    if (found !== token) throw new Error(`"${expression}" has ${found} in the place of ${token}.`);
  }

  function present(value: number | undefined): number {
    if (value === undefined) throw new Error(`"${expression}" meets a gap: FILL says what it counts as.`);
    return value;
  }

  function operation(level = 0): number | undefined {
    const operators = OPERATORS[level];
    if (!operators) return operand();
    let value = operation(level + 1);
    while (tokens[0] !== undefined && tokens[0] in operators) {
      const apply = known(operators, tokens.shift());
      value = apply(present(value), present(operation(level + 1)));
    }
    return value;
  }

  function operand(): number | undefined {
    const token = tokens.shift() ?? '';
    if (/^\d/.test(token)) return Number(token);
    if (token === 'FILL') {
      const [value, filler] = operands(2);
      return value ?? present(filler);
    }
    if (token === 'IF') {
      const [condition, then, otherwise] = operands(3);
      return present(condition) === 0 ? otherwise : then;
    }
    if (token === '(') {
      const value = operation();
      expect(')');
      return value;
    }
    if (!/^[a-z]/.test(token)) throw new Error(`"${expression}" has ${token}, which is unknown here.`);
    return lookUp(token);
  }

  function operands(count: number): (number | undefined)[] {
    const values = Array.from({ length: count }, (_, n) => {
      expect(n === 0 ? '(' : ',');
      return operation();
    });
    expect(')');
    return values;
  }

  const value = operation();
  if (tokens.length > 0) throw new Error(`"${expression}" goes on with ${tokens[0]}, which is unknown here.`);
  return present(value);
}

function divide(a: number, b: number): number {
  if (b === 0)
    throw new Error('CloudWatch drops a datapoint that divides by zero: FILL the divisor with another number.');
  return a / b;
}

function known<T>(table: Record<string, T>, name: string | undefined): T {
  const value = table[name ?? ''];
  if (value === undefined) throw new Error(`${name} is unknown here.`);
  return value;
}
