import { Duration, Stack } from 'aws-cdk-lib';
import { FilterPattern, type ILogGroup, type MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { RequestLine } from '../functions/middleware/request-log.ts';

export const MINUTE = Duration.minutes(1);

/** A field of the function's log. The compiler checks only the first field of a pattern. */
type Field = `$.message.${keyof RequestLine}`;
export type Pattern = `${Field} ${'=' | '>='} ${string}` | `$.gatewayResponse = ${string}`;

/** Counts the lines of a log that match a pattern, as a metric in the namespace with the name of the stack. */
export function addMetricFilter(logGroup: ILogGroup, id: string, metricName: string, pattern: Pattern): MetricFilter {
  return logGroup.addMetricFilter(id, {
    filterPattern: FilterPattern.literal(`{ ${pattern} }`),
    metricNamespace: Stack.of(logGroup).stackName,
    metricName,
    metricValue: '1',
    defaultValue: 0,
  });
}
