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
import { Construct } from 'constructs';
import { type ErrorNumber, errors } from '../../functions/shared/errors.ts';
import { byAction, byCapacity } from './database-metrics.ts';
import type { Monitored } from './monitored.ts';
import type { RequestMetrics } from './request-metrics.ts';

const MINUTE = Duration.minutes(1);
/** The latency that 99 of 100 requests in a minute do not exceed. */
const P99 = { statistic: 'p99', period: MINUTE };
const HOURLY = { statistic: Stats.SUM, period: Duration.hours(1) };
const HALF = 12;

interface ServiceDashboardProps extends Monitored {
  requestMetrics: RequestMetrics;
  /** The alarms whose state the dashboard shows. */
  alarms: Alarm[];
}

/**
 * The dashboard, named after the stack and its region. From top to bottom: is the service up, is it fast, what do
 * clients get wrong, what does it cost.
 *
 * @default shows the last three hours
 */
export class ServiceDashboard extends Construct {
  constructor(scope: Construct, id: string, props: ServiceDashboardProps) {
    super(scope, id);
    const { functions, releases, api, requestMetrics, alarms } = props;
    const functionLogs = functions.map(({ logGroup }) => logGroup);
    const preTrafficLogs = releases.map(({ preTrafficLog }) => preTrafficLog);
    const clientErrors = (Object.keys(errors).map(Number) as ErrorNumber[]).filter((error) => error < 500);
    const durations = (options: MetricOptions) =>
      functions.map(({ operation, lambda }) => lambda.metricDuration({ ...options, label: operation.operationId }));
    new Dashboard(this, 'Dashboard', {
      // Dashboards are global to an account ("Creating a CloudWatch dashboard"); stack names are not.
      dashboardName: `${Stack.of(this).stackName}-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
      widgets: [
        [heading('Is it up?')],
        [
          new AlarmStatusWidget({ title: 'Alarms', alarms, width: HALF, height: 6 }),
          graph('Requests a minute: those that succeeded, by operation; those that did not', [
            ...functions.map(({ operation }) => requestMetrics.succeeded(operation)),
            requestMetrics.faults,
            requestMetrics.throttled,
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
            ...byAction(props, 'SuccessfulRequestLatency', P99),
          ]),
        ],
        [heading('What do clients get wrong?')],
        [
          ...functions.map(({ operation }) =>
            graph(
              `${operation.operationId}: errors a minute, by their number`,
              clientErrors.map((error) => requestMetrics.errors(operation, error)),
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
            byCapacity(props, (capacity) => `Consumed${capacity}CapacityUnits`, HOURLY),
          ),
          graph(
            'Logs, bytes an hour',
            [...functionLogs, api.accessLog, ...preTrafficLogs].map((logGroup) =>
              logGroup.metricIncomingBytes({
                // Without the dimension, the metric counts all log groups of the account.
                dimensionsMap: { LogGroupName: logGroup.logGroupName },
                ...HOURLY,
              }),
            ),
          ),
        ],
      ],
    });
  }
}

function heading(markdown: string): TextWidget {
  return new TextWidget({ markdown: `# ${markdown}`, width: 2 * HALF, height: 1 });
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: HALF, height: 6, leftYAxis: { min: 0 } });
}
