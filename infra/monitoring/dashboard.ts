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
import { type ErrorNumber, errors } from '../../functions/shared/errors.ts';
import { byAction, byCapacity } from './database-metrics.ts';
import type { Watched } from './monitoring.ts';
import type { Outcomes } from './request-metrics.ts';

const MINUTE = Duration.minutes(1);
/** Of a minute: what the slowest request in a hundred takes at least. */
const P99 = { statistic: 'p99', period: MINUTE };
/** The sum of an hour. */
const HOURLY = { statistic: Stats.SUM, period: Duration.hours(1) };
const HALF = 12;

/** One page that answers, from top to bottom: is it up, is it fast, what are callers getting wrong, what does it cost. */
export function addDashboard(scope: Construct, watched: Watched, outcomes: Outcomes, alarms: Alarm[]): void {
  const { tables, functions, releases, api } = watched;
  const functionLogs = functions.map(({ logGroup }) => logGroup);
  const preTrafficLogs = releases.map(({ preTrafficLog }) => preTrafficLog);
  const callersErrors = (Object.keys(errors).map(Number) as ErrorNumber[]).filter((error) => error < 500);
  const durations = (options: MetricOptions) =>
    functions.map(({ operation, lambda }) => lambda.metricDuration({ ...options, label: operation.operationId }));
  new Dashboard(scope, 'Dashboard', {
    // Dashboards are global to an account ("Creating a CloudWatch dashboard"); stacks of one name are not.
    dashboardName: `${Stack.of(scope).stackName}-${Stack.of(scope).region}`,
    defaultInterval: Duration.hours(3),
    widgets: [
      [heading('Is it up?')],
      [
        new AlarmStatusWidget({ title: 'Alarms', alarms, width: HALF, height: 6 }),
        graph('Requests a minute: those that succeeded, by operation; those that did not', [
          ...functions.map(({ operation }) => outcomes.succeeded(operation)),
          outcomes.faults,
          outcomes.throttled,
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
          ...byAction(tables, 'SuccessfulRequestLatency', P99),
        ]),
      ],
      [heading('What are callers getting wrong?')],
      [
        ...functions.map(({ operation }) =>
          graph(
            `${operation.operationId}: errors a minute, by their number`,
            callersErrors.map((error) => outcomes.errors(operation, error)),
          ),
        ),
        graph('All that the gateway answered', [
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
          byCapacity(tables, (capacity) => `Consumed${capacity}CapacityUnits`, HOURLY),
        ),
        graph(
          'Logs, bytes an hour',
          [...functionLogs, api.accessLog, ...preTrafficLogs].map((logGroup) =>
            logGroup.metricIncomingBytes({
              // Without it, the metric is that of all log groups of the account.
              dimensionsMap: { LogGroupName: logGroup.logGroupName },
              ...HOURLY,
            }),
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
