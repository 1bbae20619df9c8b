import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { ACTIONS } from '../operations.ts';
import type { NamedTable } from '../tables.ts';

/** A metric that DynamoDB has of each table and action, such as `SystemErrors` ("DynamoDB metrics and dimensions"). */
export function byAction(tables: NamedTable[], metricName: string, options: MetricOptions): Metric[] {
  return tables.flatMap(({ name, table, actions }) =>
    actions.map((action) => {
      const dimensionsMap = { TableName: table.tableName, Operation: action };
      return table.metric(metricName, { ...options, dimensionsMap, label: `${name}: ${action}` });
    }),
  );
}

/** A metric that it has of each table, for reads and for writes, such as `ReadThrottleEvents`. */
export function byCapacity(
  tables: NamedTable[],
  metricName: (capacity: 'Read' | 'Write') => string,
  options: MetricOptions,
): Metric[] {
  return tables.flatMap(({ name, table, actions }) => {
    const capacities = new Set(actions.map((action) => ACTIONS[action]));
    return [...capacities].map((capacity) =>
      table.metric(metricName(capacity), { ...options, label: `${name}: ${capacity}` }),
    );
  });
}
