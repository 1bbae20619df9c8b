import { Duration, Stack } from 'aws-cdk-lib';
import { FilterPattern, type ILogGroup, type MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { RequestLine } from '../functions/middleware/request-log.ts';

/** The period of most metrics in alarms and on the dashboard. */
export const MINUTE = Duration.minutes(1);

/** A field of the function's log. The compiler checks only the first field of a pattern. */
type Field = `$.message.${keyof RequestLine}`;
export type Pattern = `${Field} ${'=' | '>='} ${string}` | `$.gatewayResponse = ${string}`;

/**
 * Adds a filter that counts lines of a log as a metric in the namespace with the stack's name.
 *
 * @param pattern the condition for a line, such as `$.message.error >= 500`
 */
export function addMetricFilter(logGroup: ILogGroup, id: string, metricName: string, pattern: Pattern): MetricFilter {
  return logGroup.addMetricFilter(id, {
    filterPattern: FilterPattern.literal(`{ ${pattern} }`),
    metricNamespace: Stack.of(logGroup).stackName,
    metricName,
    metricValue: '1',
    defaultValue: 0,
  });
}
