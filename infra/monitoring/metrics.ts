import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, type MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { ErrorNumber } from '../../functions/errors.ts';
import type { RequestLine } from '../../functions/middleware/request-log.ts';
import type { Api } from '../api/api.ts';
import type { CanaryRelease } from '../canary-release.ts';
import { gatewayResponses } from '../data/gateway-responses.ts';
import type { OperationFunction } from '../functions.ts';
import type { Tables } from '../tables.ts';

/** The parts of the stack that metrics, alarms, dashboard and queries use. */
export interface MonitoredResources {
  tables: Tables;
  functions: OperationFunction[];
  releases: CanaryRelease[];
  api: Api;
}

/** The period of the metrics in alarms and on the dashboard. */
export const MINUTE = Duration.minutes(1);

/** A metric of the whole stack. CloudWatch adds up the filters of all logs ("CloudWatch concepts", Aggregation). */
type StackMetric = 'Faults' | 'Throttled' | 'Unauthorized';
/** A field of the functions' log. The compiler compares the name of a pattern's first field with what functions log. */
type Field = `$.message.${keyof RequestLine}`;
type Pattern = `${Field} ${'=' | '>='} ${string}` | `$.gatewayResponse = ${string}`;

/** The gateway response types with error 500 or above. */
export const gatewayFaults = gatewayResponseTypes((error) => error >= 500);

/**
 * Counts errors 500, 503 and 504 as `Faults`, 429 as `Throttled`, and the functions' 401 as `Unauthorized`, because API
 * Gateway's own metrics count every error as a 400.
 */
export function addStackMetrics({ functions, api }: MonitoredResources): void {
  const add = (log: LogGroup, metric: StackMetric, pattern: Pattern) => addMetricFilter(log, metric, metric, pattern);
  for (const { logGroup } of functions) {
    add(logGroup, 'Faults', '$.message.error >= 500');
    add(logGroup, 'Throttled', '$.message.error = 429');
    add(logGroup, 'Unauthorized', '$.message.error = 401');
  }
  const isOneOf = (types: string[]): Pattern => `$.gatewayResponse = "${types.join('" || $.gatewayResponse = "')}"`;
  add(api.accessLog, 'Faults', isOneOf(gatewayFaults));
  add(api.accessLog, 'Throttled', isOneOf(gatewayResponseTypes((error) => error === 429)));
}

/**
 * Adds a filter that counts lines of a log as a metric in the namespace with the stack's name.
 *
 * @param pattern the condition for a line, such as `$.message.error >= 500`
 */
export function addMetricFilter(logGroup: LogGroup, id: string, metricName: string, pattern: Pattern): MetricFilter {
  return logGroup.addMetricFilter(id, {
    filterPattern: FilterPattern.literal(`{ ${pattern} }`),
    metricNamespace: Stack.of(logGroup).stackName,
    metricName,
    metricValue: '1',
    defaultValue: 0,
  });
}

/** Returns a metric of the stack, as a sum per minute. */
export function stackMetric(scope: Construct, metricName: StackMetric): Metric {
  return new Metric({ namespace: Stack.of(scope).stackName, metricName, statistic: Stats.SUM, period: MINUTE });
}

function gatewayResponseTypes(matches: (error: ErrorNumber) => boolean): string[] {
  return Object.entries(gatewayResponses).flatMap(([type, { error }]) => (matches(error) ? type : []));
}
