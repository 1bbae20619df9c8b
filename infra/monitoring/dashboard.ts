import { Duration, Stack } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryVisualizationType,
  LogQueryWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { MINUTE, type MonitoredResources, stackMetric } from './metrics.ts';
import { field } from './queries.ts';

const P99 = { statistic: 'p99', period: MINUTE };
/** Two widgets fill a row of the dashboard, which has 24 columns. */
const SIZE = { width: 12, height: 6 };

/** Creates the dashboard: what a person looks at first, for the last three hours. */
export function addDashboard(scope: Construct, { tables, functions, api }: MonitoredResources, alarms: Alarm[]): void {
  const { stackName, region } = Stack.of(scope);
  new Dashboard(scope, 'Dashboard', {
    // With the region, because a dashboard name is unique in all regions of an account ("Creating a CloudWatch
    // dashboard").
    dashboardName: `${stackName}-${region}`,
    defaultInterval: Duration.hours(3),
    widgets: [
      [
        new AlarmStatusWidget({ title: 'Alarms', alarms, ...SIZE }),
        graph('Requests per minute', [
          api.restApi.metricCount({ period: MINUTE, label: 'all' }),
          stackMetric(scope, 'Faults'),
          stackMetric(scope, 'Throttled'),
          stackMetric(scope, 'Unauthorized'),
        ]),
        new LogQueryWidget({
          title: 'Requests by operation and error',
          logGroupNames: functions.map(({ logGroup }) => logGroup.logGroupName),
          view: LogQueryVisualizationType.TABLE,
          queryLines: [
            `filter ispresent(${field('operation')})`,
            `stats count(*) as requests by ${field('operation')} as operation, ${field('error')} as error`,
            'sort requests desc',
          ],
          ...SIZE,
        }),
        graph('Latency, ms', [
          api.restApi.metricLatency({ period: MINUTE, statistic: 'p50', label: 'API Gateway, p50' }),
          api.restApi.metricLatency({ ...P99, label: 'API Gateway, p99' }),
          ...functions.map(({ operation, lambda }) =>
            lambda.metricDuration({ ...P99, label: `function of ${operation.operationId}, p99` }),
          ),
        ]),
        graph(
          'DynamoDB: request units per minute',
          Object.values(tables).flatMap((table) => [
            table.metricConsumedReadCapacityUnits({ period: MINUTE, label: `${table.node.id}: read` }),
            table.metricConsumedWriteCapacityUnits({ period: MINUTE, label: `${table.node.id}: write` }),
          ]),
        ),
      ],
    ],
  });
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, ...SIZE, leftYAxis: { min: 0 } });
}
