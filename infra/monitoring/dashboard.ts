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
import { errors } from '../../functions/shared/errors.ts';
import { byAction, byCapacity, type Monitored, requestMetric } from './metrics.ts';

const MINUTE = Duration.minutes(1);
/** The latency that 99 of 100 requests in a minute do not exceed. */
const P99 = { statistic: 'p99', period: MINUTE };
const HOURLY = { statistic: Stats.SUM, period: Duration.hours(1) };
const HALF = 12;

/**
 * Makes the dashboard, named after the stack and its region. It shows the state of `alarms` and the last three hours,
 * from top to bottom: is the service up, is it fast, what do clients get wrong, what does it cost.
 */
export function addDashboard(scope: Construct, monitored: Monitored, alarms: Alarm[]): void {
  const { functions, releases, api } = monitored;
  const logGroups = [
    ...functions.map(({ logGroup }) => logGroup),
    api.accessLog,
    ...releases.map(({ preTrafficLog }) => preTrafficLog),
  ];
  const clientErrors = Object.keys(errors).filter((error) => Number(error) < 500);
  const ids = functions.map(({ operation }) => operation.operationId);
  const durations = (options: MetricOptions) =>
    functions.map(({ operation, lambda }) => lambda.metricDuration({ ...options, label: operation.operationId }));
  new Dashboard(scope, 'Dashboard', {
    // Dashboards are global to an account ("Creating a CloudWatch dashboard"); stack names are not.
    dashboardName: `${Stack.of(scope).stackName}-${Stack.of(scope).region}`,
    defaultInterval: Duration.hours(3),
    widgets: [
      [heading('Is it up?')],
      [
        new AlarmStatusWidget({ title: 'Alarms', alarms, width: HALF, height: 6 }),
        graph('Requests a minute: successes by operation, and failures', [
          ...ids.map((operation) => requestMetric(scope, 'Succeeded', { operation }).with({ label: operation })),
          requestMetric(scope, 'Faults'),
          requestMetric(scope, 'Throttled'),
        ]),
      ],
      [heading('Is it fast?')],
      [
        graph(
          'Latency at the gateway, ms',
          ['p50', 'p90', 'p99'].map((statistic) =>
            api.restApi.metricLatency({ statistic, period: MINUTE, label: statistic }),
          ),
        ),
        graph('Where it goes (p99), ms', [
          api.restApi.metricIntegrationLatency({ ...P99, label: 'all functions, cold starts included' }),
          ...durations(P99),
          ...byAction(monitored, 'SuccessfulRequestLatency', P99),
        ]),
      ],
      [heading('What do clients get wrong?')],
      [
        ...ids.map((operation) =>
          graph(
            `${operation}: errors a minute, by number`,
            clientErrors.map((error) => requestMetric(scope, 'Errors', { operation, error }).with({ label: error })),
          ),
        ),
        graph('All responses of the gateway', [
          api.restApi.metricCount({ period: MINUTE, label: 'requests' }),
          api.restApi.metricClientError({ period: MINUTE, statistic: Stats.SUM, label: '400' }),
        ]),
      ],
      [heading('What does it cost? The prices are in docs/cost-and-scale.md.')],
      [
        graph('Requests an hour', [api.restApi.metricCount({ period: HOURLY.period, label: 'requests' })]),
        graph('Lambda, ms billed an hour', durations(HOURLY)),
      ],
      [
        graph(
          'DynamoDB, request units an hour',
          byCapacity(monitored, (capacity) => `Consumed${capacity}CapacityUnits`, HOURLY),
        ),
        graph(
          'Logs, bytes an hour',
          logGroups.map((logGroup) =>
            // Without the dimension, the metric counts all log groups of the account.
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
