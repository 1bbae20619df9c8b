import { expect, test } from 'vitest';
import { onlyIdOf, onlyOf, propertiesOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith();
const region = 'AWS::Region';
const sum = { period: 60, stat: 'Sum' };
const ofStack = (metric: string) => ['PlantStore', metric, sum];
const ofApi = (metric: string, stat: string, label: string) => {
  return ['AWS/ApiGateway', metric, 'ApiName', 'PlantStore', { period: 60, stat, label }];
};
const ofTable = (name: string, kind: string, label: string) => {
  return ['AWS/DynamoDB', `Consumed${kind}CapacityUnits`, 'TableName', name, { ...sum, label }];
};
const graph = (title: string, ...metrics: unknown[]) => {
  return { title, region, metrics, view: 'timeSeries', yAxis: { left: { min: 0 } } };
};

test('the dashboard shows, for three hours, the alarms that notify a person, and exactly these metrics', () => {
  const { start, widgets } = JSON.parse(onlyOf(template, 'AWS::CloudWatch::Dashboard').DashboardBody);
  const lambda = onlyIdOf(template, 'AWS::Lambda::Function', 'CreatePlant');
  const logGroup = onlyIdOf(template, 'AWS::Logs::LogGroup', 'CreatePlant');
  const alarms = Object.entries(propertiesOf(template, 'AWS::CloudWatch::Alarm'));
  const notifying = alarms.filter(([, { AlarmActions }]) => AlarmActions);
  expect(start).toBe('-PT3H');
  expect(widgets.map(({ properties }: { properties: object }) => properties)).toEqual([
    { title: 'Alarms', alarms: notifying.map(([id]) => `${id}.Arn`) },
    graph(
      'Requests per minute',
      ofApi('Count', 'SampleCount', 'all'),
      ...['Faults', 'Throttled', 'Unauthorized'].map(ofStack),
    ),
    {
      title: 'Requests by error',
      region,
      view: 'table',
      query: `SOURCE '${logGroup}' | filter ispresent(message.outcome)
| stats count(*) as requests by message.outcome as outcome, message.error as error
| sort requests desc`,
    },
    graph('Latency, ms', ofApi('Latency', 'p50', 'API Gateway, p50'), ofApi('Latency', 'p99', 'API Gateway, p99'), [
      'AWS/Lambda',
      'Duration',
      'FunctionName',
      lambda,
      { period: 60, stat: 'p99', label: 'function, p99' },
    ]),
    graph(
      'DynamoDB: request units per minute',
      ofTable('PlantsTable', 'Read', 'plants: read'),
      ofTable('PlantsTable', 'Write', 'plants: write'),
      ofTable('AccessTokensTable', 'Read', 'access tokens: read'),
      ofTable('AccessTokensTable', 'Write', 'access tokens: write'),
    ),
  ]);
});
