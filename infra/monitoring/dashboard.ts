import { Duration, Stack } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type MetricOptions,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { ERROR_NUMBERS } from '../../functions/shared/errors.ts';
import { type MonitoredResources, metricsByAction, metricsByCapacity, requestMetric } from './metrics.ts';

const MINUTE = Duration.minutes(1);
const P99 = { statistic: 'p99', period: MINUTE };
const HOURLY = { statistic: Stats.SUM, period: Duration.hours(1) };
const HALF = 12;

/** Creates the dashboard. It shows availability, latency, client errors and cost of the last three hours. */
export function addDashboard(scope: Construct, resources: MonitoredResources, alarms: Alarm[]): void {
  const { functions, releases, api } = resources;
  const logGroups = [
    ...functions.map(({ logGroup }) => logGroup),
    api.accessLog,
    ...releases.map(({ preTrafficLog }) => preTrafficLog),
  ];
  const clientErrors = ERROR_NUMBERS.filter((error) => error < 500).map(String);
  const operationIds = functions.map(({ operation }) => operation.operationId);
  const durations = (options: MetricOptions) =>
    functions.map(({ operation, lambda }) => lambda.metricDuration({ ...options, label: operation.operationId }));
  new Dashboard(scope, 'Dashboard', {
    // With the region, because a dashboard name is unique in all regions of an account ("Creating a CloudWatch dashboard").
    dashboardName: `${Stack.of(scope).stackName}-${Stack.of(scope).region}`,
    defaultInterval: Duration.hours(3),
    widgets: [
      [heading('Availability')],
      [
        new AlarmStatusWidget({ title: 'Alarms', alarms, width: HALF, height: 6 }),
        graph('Requests per minute: succeeded by operation, failed and throttled', [
          ...operationIds.map((id) => requestMetric(scope, 'Succeeded', { operation: id }).with({ label: id })),
          requestMetric(scope, 'Faults'),
          requestMetric(scope, 'Throttled'),
        ]),
      ],
      [heading('Latency')],
      [
        graph(
          'Latency at API Gateway, ms',
          ['p50', 'p90', 'p99'].map((statistic) =>
            api.restApi.metricLatency({ statistic, period: MINUTE, label: statistic }),
          ),
        ),
        graph('Latency by component (p99), ms', [
          api.restApi.metricIntegrationLatency({ ...P99, label: 'all functions, with cold starts' }),
          ...durations(P99),
          ...metricsByAction(resources, 'SuccessfulRequestLatency', P99),
        ]),
      ],
      [heading('Client errors')],
      [
        ...operationIds.map((operation) =>
          graph(
            `${operation}: errors per minute, by error number`,
            clientErrors.map((error) => requestMetric(scope, 'Errors', { operation, error }).with({ label: error })),
          ),
        ),
        graph('Requests per minute, and those with status 400', [
          api.restApi.metricCount({ period: MINUTE, label: 'all requests' }),
          api.restApi.metricClientError({ period: MINUTE, statistic: Stats.SUM, label: 'status 400' }),
        ]),
      ],
      [heading('Cost (prices: docs/cost-and-scale.md)')],
      [
        graph('Requests per hour', [api.restApi.metricCount({ period: HOURLY.period, label: 'requests' })]),
        graph('Lambda: billed ms per hour', durations(HOURLY)),
      ],
      [
        graph(
          'DynamoDB: request units per hour',
          metricsByCapacity(resources, (capacity) => `Consumed${capacity}CapacityUnits`, HOURLY),
        ),
        graph(
          'Logs: bytes per hour',
          logGroups.map((logGroup) =>
            // Without this dimension, the metric is the sum of all log groups of the account.
            logGroup.metricIncomingBytes({ ...HOURLY, dimensionsMap: { LogGroupName: logGroup.logGroupName } }),
          ),
        ),
      ],
    ],
  });
}

function heading(markdown: string): TextWidget {
  return new TextWidget({ markdown: `# ${markdown}`, width: 2 * HALF, height: 1 });
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: HALF, height: 6, leftYAxis: { min: 0 } });
}
