import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { ErrorNumber } from '../../functions/shared/errors.ts';
import type { RequestLine } from '../../functions/shared/middleware/request-log.ts';
import type { Api } from '../api/api.ts';
import { gatewayResponses } from '../api/gateway-responses.ts';
import type { OperationFunction } from '../functions.ts';
import type { Tables } from '../tables.ts';

/** The parts of the stack that metrics, alarms, dashboard and queries use. */
export interface MonitoredResources {
  tables: Tables;
  functions: OperationFunction[];
  api: Api;
}

/** The period of the metrics in alarms and on the dashboard. */
export const MINUTE = Duration.minutes(1);

type RequestMetric = 'Succeeded' | 'Errors' | 'InternalErrors' | 'Faults' | 'Throttled' | 'Unauthorized';
/** A field of the functions' log. The compiler compares its name with the field that functions log. */
type Field<Name extends keyof RequestLine = keyof RequestLine> = `$.message.${Name}`;
type Pattern = `${Field} ${'=' | '>' | '>='} ${string}` | `$.gatewayResponse = ${string}`;
type Dimensions = { [Name in keyof RequestLine]?: Field<Name> };

/** The gateway response types with error 500 or above. */
export const gatewayFaults = gatewayResponseTypes((error) => error >= 500);

/**
 * Adds metric filters to the logs, because API Gateway's own metrics count every error as a 400: `Succeeded` by
 * `operation`; `Errors` by `operation` and `error`; `InternalErrors` (500) by `operation` and `version`; `Faults` (error 500, 503 and 504), `Throttled` (429) and
 * `Unauthorized` (401) without dimensions. CloudWatch adds up filters with the same metric name ("CloudWatch concepts",
 * Aggregation).
 */
export function addRequestMetrics({ functions, api }: MonitoredResources): void {
  const operation = '$.message.operation' as const;
  for (const { logGroup } of functions) {
    addMetric(logGroup, 'Succeeded', '$.message.outcome = "succeeded"', { operation });
    addMetric(logGroup, 'Errors', '$.message.error > 0', { operation, error: '$.message.error' });
    addMetric(logGroup, 'InternalErrors', '$.message.error = 500', { operation, version: '$.message.version' });
    addMetric(logGroup, 'Faults', '$.message.error >= 500');
    addMetric(logGroup, 'Throttled', '$.message.error = 429');
    addMetric(logGroup, 'Unauthorized', '$.message.error = 401');
  }
  const isOneOf = (types: string[]): Pattern => `$.gatewayResponse = "${types.join('" || $.gatewayResponse = "')}"`;
  addMetric(api.accessLog, 'Faults', isOneOf(gatewayFaults));
  addMetric(api.accessLog, 'Throttled', isOneOf(gatewayResponseTypes((error) => error === 429)));
}

/**
 * Adds a metric that counts log lines. Its namespace is the stack's name.
 *
 * The filter's pattern names each dimension's field, because "any of the properties in the metric filter" can be a dimension
 * ("Filter pattern syntax for metric filters"; its example has the form `$.eventType = "*"`).
 *
 * @param pattern the condition for a line, such as `$.message.error >= 500`
 * @param dimensions by name, the member of the line that has the value; default: none
 */
function addMetric(logGroup: LogGroup, metricName: RequestMetric, pattern: Pattern, dimensions?: Dimensions) {
  const fields = Object.values(dimensions ?? {}).filter((field) => !pattern.startsWith(`${field} `));
  logGroup.addMetricFilter(metricName, {
    filterPattern: FilterPattern.literal(`{ ${[pattern, ...fields.map((field) => `${field} = "*"`)].join(' && ')} }`),
    metricNamespace: Stack.of(logGroup).stackName,
    metricName,
    metricValue: '1',
    // A metric with dimensions cannot have a default value ("Creating metrics from log events using filters").
    ...(dimensions ? { dimensions } : { defaultValue: 0 }),
  });
}

/** A metric that `addMetric` adds, as a sum per minute. */
export function requestMetric(
  scope: Construct,
  metricName: RequestMetric,
  dimensionsMap: Partial<Record<keyof RequestLine, string>> = {},
): Metric {
  const namespace = Stack.of(scope).stackName;
  return new Metric({ namespace, metricName, dimensionsMap, statistic: Stats.SUM, period: MINUTE });
}

function gatewayResponseTypes(matches: (error: ErrorNumber) => boolean): string[] {
  return Object.entries(gatewayResponses).flatMap(([type, { error }]) => (matches(error) ? type : []));
}
