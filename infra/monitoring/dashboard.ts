import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type ErrorNumber, errors } from '../../functions/shared/errors.ts';
import type { Alarms } from './alarms.ts';
import type { Outcomes } from './outcomes.ts';

interface DashboardProps {
  outcomes: Outcomes;
  alarms: Alarms;
  createPlant: IFunction;
  restApi: RestApi;
  plants: Table;
  accessTokens: Table;
  logGroups: ILogGroup[];
}

const MINUTE = Duration.minutes(1);
const HALF = 12;

/** One page that answers, from top to bottom: is it up, is it fast, what are callers getting wrong, what does it cost. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { outcomes, alarms, createPlant, restApi, plants, accessTokens, logGroups } = props;
    const callersErrors = (Object.keys(errors).map(Number) as ErrorNumber[]).filter((error) => error < 500);
    new CloudWatchDashboard(this, 'Dashboard', {
      // Dashboards are global to an account ("Creating a CloudWatch dashboard"); stacks of one name are not.
      dashboardName: `${Stack.of(this).stackName}-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
      widgets: [
        [heading('Is it up?')],
        [
          new AlarmStatusWidget({ title: 'Alarms', alarms: alarms.all, width: HALF, height: 6 }),
          graph('Requests a minute', [outcomes.created, outcomes.faults(MINUTE), outcomes.throttled(MINUTE)]),
        ],
        [heading('Is it fast?')],
        [
          graph(
            'Latency at the gateway, ms',
            ['p50', 'p90', 'p99'].map((statistic) =>
              restApi.metricLatency({ statistic, period: MINUTE, label: statistic }),
            ),
          ),
          graph('Where it goes (p99), ms', [
            restApi.metricIntegrationLatency({
              statistic: 'p99',
              period: MINUTE,
              label: 'the function, cold starts included',
            }),
            createPlant.metricDuration({ statistic: 'p99', period: MINUTE, label: 'the function' }),
            plants.metricSuccessfulRequestLatency({
              dimensionsMap: { TableName: plants.tableName, Operation: 'PutItem' },
              statistic: 'p99',
              period: MINUTE,
              label: 'PutItem',
            }),
            accessTokens.metricSuccessfulRequestLatency({
              dimensionsMap: { TableName: accessTokens.tableName, Operation: 'GetItem' },
              statistic: 'p99',
              period: MINUTE,
              label: 'GetItem',
            }),
          ]),
        ],
        [heading('What are callers getting wrong?')],
        [
          graph(
            'Errors a minute, by their number',
            callersErrors.map((error) => outcomes.errors(error)),
          ),
          graph('All that the gateway answered', [
            restApi.metricCount({ period: MINUTE, label: 'requests' }),
            restApi.metricClientError({ period: MINUTE, statistic: Stats.SUM, label: '400' }),
          ]),
        ],
        [heading('What does it cost? The prices are in docs/cost-and-scale.md.')],
        [
          graph('Requests an hour', [restApi.metricCount({ period: Duration.hours(1), label: 'requests' })]),
          graph('Lambda, ms billed an hour', [
            createPlant.metricDuration({ statistic: Stats.SUM, period: Duration.hours(1), label: 'ms' }),
          ]),
        ],
        [
          graph('DynamoDB, request units an hour', [
            plants.metricConsumedWriteCapacityUnits({ period: Duration.hours(1), label: 'written: plants' }),
            accessTokens.metricConsumedReadCapacityUnits({ period: Duration.hours(1), label: 'read: access tokens' }),
          ]),
          graph(
            'Logs, bytes an hour',
            logGroups.map((logGroup) =>
              logGroup.metricIncomingBytes({
                // Without it, the metric is that of all log groups of the account.
                dimensionsMap: { LogGroupName: logGroup.logGroupName },
                statistic: Stats.SUM,
                period: Duration.hours(1),
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
