import { expect, test } from 'vitest';
import {
  functionOf,
  onlyOf,
  propertiesOf,
  tableActions,
  templateWith,
  textOf,
  twoOperations,
} from '../../test/support/stack.ts';
import { ACTIONS } from '../operations.ts';

interface Widget {
  type: string;
  width: number;
  properties: {
    title: string;
    markdown?: string;
    metrics: { label?: string; stat: string; period: number }[][];
    yAxis: { left: { min: number } };
  };
}

const template = templateWith({});
const body = textOf(onlyOf(template, 'AWS::CloudWatch::Dashboard').DashboardBody);
const { start, widgets }: { start: string; widgets: Widget[] } = JSON.parse(body);
const graphs = widgets.filter(({ type }) => type === 'metric');

test('the dashboard shows three hours, and has four questions from top to bottom', () => {
  expect(start).toBe('-PT3H');
  expect(widgets.flatMap(({ properties: { markdown } }) => markdown ?? [])).toEqual([
    '# Is it up?',
    '# Is it fast?',
    '# What do clients get wrong?',
    '# What does it cost? The prices are in docs/cost-and-scale.md.',
  ]);
});

test('headings are as wide as the page, graphs half as wide with a scale that starts at 0', () => {
  // The page has a width of 24 ("Dashboard body structure and syntax").
  const widths = widgets.map(({ type, width }) => `${type} ${width}`);
  expect(new Set(widths)).toEqual(new Set(['text 24', 'alarm 12', 'metric 12']));
  expect(new Set(graphs.map(({ properties }) => properties.yAxis.left.min))).toEqual(new Set([0]));
});

test.each(twoOperations)('the dashboard has the requests, errors and durations of $operationId', (operation) => {
  const { operationId } = operation;
  expect(body).toContain(`["PlantStore","Succeeded","operation","${operationId}",`);
  for (const error of [400, 401, 409, 413, 415, 429]) {
    expect(body).toContain(`["PlantStore","Errors","error","${error}","operation","${operationId}",`);
  }
  expect(body).toContain(`["AWS/Lambda","Duration","FunctionName","${functionOf(template, operation).id}",`);
});

const ids = twoOperations.map(({ operationId }) => operationId);
const clientErrors = ['400', '401', '404', '409', '413', '415', '429'];

const actions = tableActions.map(({ name, action }) => `${name}: ${action}`);
const capacities = [...new Set(tableActions.map(({ name, action }) => `${name}: ${ACTIONS[action]}`))];

// Count has one sample per request ("Amazon API Gateway dimensions and metrics").
type GraphRow = [title: RegExp, labels: string[], statistic: string];

test.each<GraphRow>([
  [/^Requests a minute: /, [...ids, 'Faults', 'Throttled'], 'Sum of 60 s'],
  [/^Where it goes/, ['all functions, cold starts included', ...ids, ...actions], 'p99 of 60 s'],
  ...ids.map((id): GraphRow => [new RegExp(`^${id}: errors a minute`), clientErrors, 'Sum of 60 s']),
  [/^Requests an hour/, ['requests'], 'SampleCount of 3600 s'],
  [/^Lambda, ms billed an hour/, ids, 'Sum of 3600 s'],
  [/^DynamoDB, request units an hour/, capacities, 'Sum of 3600 s'],
])('the graph %s has the lines %j', (title, labels, statistic) => {
  const lines = graphs
    .find(({ properties }) => title.test(properties.title))
    ?.properties.metrics.map((line) => line.at(-1));
  expect(lines?.map((line) => line?.label)).toEqual(labels);
  expect(new Set(lines?.map((line) => `${line?.stat} of ${line?.period} s`))).toEqual(new Set([statistic]));
});

test('the dashboard has the alarms that call a person, and none that only rolls a release back', () => {
  const alarms = Object.entries(propertiesOf(template, 'AWS::CloudWatch::Alarm'));
  const shown = alarms.filter(([id]) => body.includes(id));
  expect(shown).toEqual(alarms.filter(([, { AlarmActions }]) => AlarmActions));
});

test('the dashboard has the bytes of each log of the stack', () => {
  for (const logGroup of Object.keys(propertiesOf(template, 'AWS::Logs::LogGroup'))) {
    expect(body).toContain(`["AWS/Logs","IncomingBytes","LogGroupName","${logGroup}",`);
  }
});
