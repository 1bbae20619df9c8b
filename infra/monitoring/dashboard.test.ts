import { expect, test } from 'vitest';
import { allPropertiesOf, idOf, propertiesOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith();
const { DashboardBody, DashboardName } = propertiesOf(template, 'AWS::CloudWatch::Dashboard');
const { start, widgets } = JSON.parse(DashboardBody);

/** A widget that plots metrics: namespace, name, dimensions, and how they are shown. */
const graph = (title: string, metrics: unknown[]) => {
  return { title, region: 'AWS::Region', metrics, view: 'timeSeries', yAxis: { left: { min: 0 } } };
};

test('the dashboard shows, for three hours, the alarms that notify a person, these metrics and this query', () => {
  const lambda = idOf(template, 'AWS::Lambda::Function');
  const logGroup = idOf(template, 'AWS::Logs::LogGroup', 'Function');
  const alarms = Object.entries(allPropertiesOf(template, 'AWS::CloudWatch::Alarm'));
  const api = ['ApiName', 'PlantStore'];
  const ofTable = (name: string, kind: string, label: string) => {
    const metric = ['AWS/DynamoDB', `Consumed${kind}CapacityUnits`, 'TableName', name];
    return [...metric, { period: 60, stat: 'Sum', label }];
  };
  // A dashboard name is unique in all regions of an account.
  expect([DashboardName, start]).toEqual(['PlantStore-AWS::Region', '-PT3H']);
  expect(widgets.map(({ properties }: { properties: object }) => properties)).toEqual([
    { title: 'Alarms', alarms: alarms.filter(([, alarm]) => alarm.AlarmActions).map(([id]) => `${id}.Arn`) },
    graph('Requests per minute', [
      ['AWS/ApiGateway', 'Count', ...api, { period: 60, stat: 'SampleCount', label: 'all' }],
      ...['Faults', 'Throttled', 'Unauthorized'].map((name) => ['PlantStore', name, { period: 60, stat: 'Sum' }]),
    ]),
    {
      title: 'Requests by error',
      region: 'AWS::Region',
      view: 'table',
      query: `SOURCE '${logGroup}' | filter ispresent(message.outcome)
| stats count(*) as requests by message.outcome as outcome, message.error as error
| sort requests desc`,
    },
    graph('Latency, ms', [
      ['AWS/ApiGateway', 'Latency', ...api, { period: 60, stat: 'p50', label: 'API Gateway, p50' }],
      ['AWS/ApiGateway', 'Latency', ...api, { period: 60, stat: 'p99', label: 'API Gateway, p99' }],
      ['AWS/Lambda', 'Duration', 'FunctionName', lambda, { period: 60, stat: 'p99', label: 'function, p99' }],
    ]),
    graph('DynamoDB: request units per minute', [
      ofTable('PlantsTable', 'Read', 'plants: read'),
      ofTable('PlantsTable', 'Write', 'plants: write'),
      ofTable('AccessTokensTable', 'Read', 'access tokens: read'),
      ofTable('AccessTokensTable', 'Write', 'access tokens: write'),
    ]),
  ]);
});
