import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { ACTIONS } from '../operations.ts';
import type { TableName } from '../tables.ts';
import type { Monitored } from './monitored.ts';

type Source = Pick<Monitored, 'tables' | 'functions'>;

/** The metric of each table and action that the functions use, such as `SystemErrors` ("DynamoDB metrics and dimensions"). */
export function byAction(source: Source, metricName: string, options: MetricOptions): Metric[] {
  return usedTables(source).flatMap(({ name, table, actions }) =>
    actions.map((action) => {
      const dimensionsMap = { TableName: table.tableName, Operation: action };
      return table.metric(metricName, { ...options, dimensionsMap, label: `${name}: ${action}` });
    }),
  );
}

/** The metric of each table and capacity that the functions use, such as `ReadThrottleEvents`. */
export function byCapacity(
  source: Source,
  metricName: (capacity: 'Read' | 'Write') => string,
  options: MetricOptions,
): Metric[] {
  return usedTables(source).flatMap(({ name, table, actions }) => {
    const capacities = new Set(actions.map((action) => ACTIONS[action]));
    return [...capacities].map((capacity) =>
      table.metric(metricName(capacity), { ...options, label: `${name}: ${capacity}` }),
    );
  });
}

/** Each table with the actions that the functions may use on it. */
function usedTables({ tables, functions }: Source) {
  return (Object.keys(tables.byName) as TableName[]).map((name) => ({
    name,
    table: tables.byName[name],
    actions: [...new Set(functions.flatMap(({ operation }) => operation.grants[name] ?? []))],
  }));
}
