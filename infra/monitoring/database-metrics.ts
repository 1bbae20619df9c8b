import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { NamedTable } from '../data.ts';
import { ACTIONS, type GrantedOperation } from '../operations.ts';

/** DynamoDB's metrics of what the operations may do on the tables ("DynamoDB metrics and dimensions"). */
export class DatabaseMetrics {
  readonly #used;

  constructor(tables: NamedTable[], operations: GrantedOperation[]) {
    this.#used = tables.map(({ name, table }) => ({
      name,
      table,
      actions: [...new Set(operations.flatMap(({ grants }) => grants[name] ?? []))],
    }));
  }

  /** A metric that each table has for each action, such as `SystemErrors`. */
  byAction(metricName: string, options: MetricOptions): Metric[] {
    return this.#used.flatMap(({ name, table, actions }) =>
      actions.map((action) => {
        const dimensionsMap = { TableName: table.tableName, Operation: action };
        return table.metric(metricName, { ...options, dimensionsMap, label: `${name}: ${action}` });
      }),
    );
  }

  /** A metric that each table has for reads and for writes, such as `ReadThrottleEvents`. */
  byCapacity(metricName: (capacity: 'Read' | 'Write') => string, options: MetricOptions): Metric[] {
    return this.#used.flatMap(({ name, table, actions }) => {
      const capacities = new Set(actions.map((action) => ACTIONS[action]));
      return [...capacities].map((capacity) =>
        table.metric(metricName(capacity), { ...options, label: `${name}: ${capacity}` }),
      );
    });
  }
}
