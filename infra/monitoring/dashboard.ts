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
import { MINUTE } from '../metric-filter.ts';
import { type MonitoredResources, stackMetric } from './metrics.ts';
import { field } from './queries.ts';

const P99 = { statistic: 'p99', period: MINUTE };
/** Two widgets fill a row of the dashboard, which has 24 columns. */
const SIZE = { width: 12, height: 6 };

export function addDashboard(scope: Construct, { tables, lambda, api }: MonitoredResources, alarms: Alarm[]): void {
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
          title: 'Requests by error',
          logGroupNames: [lambda.logGroup.logGroupName],
          view: LogQueryVisualizationType.TABLE,
          queryLines: [
            `filter ispresent(${field('outcome')})`,
            `stats count(*) as requests by ${field('outcome')} as outcome, ${field('error')} as error`,
            'sort requests desc',
          ],
          ...SIZE,
        }),
        graph('Latency, ms', [
          api.restApi.metricLatency({ period: MINUTE, statistic: 'p50', label: 'API Gateway, p50' }),
          api.restApi.metricLatency({ ...P99, label: 'API Gateway, p99' }),
          lambda.metricDuration({ ...P99, label: 'function, p99' }),
        ]),
        graph('DynamoDB: request units per minute', [
          tables.plants.metricConsumedReadCapacityUnits({ period: MINUTE, label: 'plants: read' }),
          tables.plants.metricConsumedWriteCapacityUnits({ period: MINUTE, label: 'plants: write' }),
          tables.accessTokens.metricConsumedReadCapacityUnits({ period: MINUTE, label: 'access tokens: read' }),
          tables.accessTokens.metricConsumedWriteCapacityUnits({ period: MINUTE, label: 'access tokens: write' }),
        ]),
      ],
    ],
  });
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, ...SIZE, leftYAxis: { min: 0 } });
}
