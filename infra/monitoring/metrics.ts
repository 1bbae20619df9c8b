import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, type MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { RequestLine } from '../../functions/middleware/request-log.ts';
import type { Api } from '../api.ts';
import type { CreatePlantFunction } from '../function.ts';
import type { Release } from '../release.ts';
import type { Tables } from '../tables.ts';

/** The parts of the stack that metrics, alarms, dashboard and queries use. */
export interface MonitoredResources {
  tables: Tables;
  createPlant: CreatePlantFunction;
  release: Release;
  api: Api;
}

/** The period of the metrics in alarms and on the dashboard. */
export const MINUTE = Duration.minutes(1);

/** A metric of the whole stack. CloudWatch adds up the filters of both logs ("CloudWatch concepts", Aggregation). */
type StackMetric = 'Faults' | 'Throttled' | 'Unauthorized';
/** A field of the function's log. The compiler compares the name of a pattern's first field with what is logged. */
type Field = `$.message.${keyof RequestLine}`;
type Pattern = `${Field} ${'=' | '>='} ${string}` | `$.gatewayResponse = ${string}`;

/**
 * The gateway response types that mean an internal error or a timeout. The access log has the type that occurred, also
 * if API Gateway responds with the body of DEFAULT_5XX.
 */
export const GATEWAY_FAULTS = ['API_CONFIGURATION_ERROR', 'DEFAULT_5XX', 'INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT'];

/**
 * Counts errors 500, 503 and 504 as `Faults`, 429 as `Throttled`, and the function's 401 as `Unauthorized`, because API
 * Gateway's own metrics count every error as a 400.
 */
export function addStackMetrics({ createPlant, api }: MonitoredResources): void {
  const add = (log: LogGroup, metric: StackMetric, pattern: Pattern) => addMetricFilter(log, metric, metric, pattern);
  add(createPlant.logGroup, 'Faults', '$.message.error >= 500');
  add(createPlant.logGroup, 'Throttled', '$.message.error = 429');
  add(createPlant.logGroup, 'Unauthorized', '$.message.error = 401');
  add(
    api.accessLog,
    'Faults',
    `$.gatewayResponse = ${GATEWAY_FAULTS.map((type) => `"${type}"`).join(' || $.gatewayResponse = ')}`,
  );
  // API Gateway may write no line for some responses of a large flood ("Monitor REST APIs in API Gateway").
  add(api.accessLog, 'Throttled', '$.gatewayResponse = "THROTTLED" || $.gatewayResponse = "WAF_FILTERED"');
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
