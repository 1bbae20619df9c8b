import { Stack } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Api } from '../api.ts';
import { addMetricFilter, MINUTE, type Pattern } from '../metric-filter.ts';
import type { Release } from '../release.ts';
import type { CompleteSettings } from '../settings.ts';
import type { Tables } from '../tables.ts';

/** The parts of the stack that metrics, alarms, dashboard and queries use. */
export interface MonitoredResources {
  tables: Tables;
  lambda: NodejsFunction;
  release: Release;
  api: Api;
}

/** A metric of the whole stack. CloudWatch adds up the filters of both logs ("CloudWatch concepts", Aggregation). */
type StackMetricName = 'Faults' | 'Throttled' | 'Unauthorized' | 'Succeeded';

/**
 * The gateway response types that mean an internal error or a timeout. The access log has the type that occurred, also
 * if API Gateway responds with the body of DEFAULT_5XX.
 */
export const GATEWAY_FAULTS = ['API_CONFIGURATION_ERROR', 'DEFAULT_5XX', 'INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT'];

/**
 * Counts errors 500, 503 and 504 as `Faults`, 429 as `Throttled`, and the function's 401 as `Unauthorized`, because API
 * Gateway's own metrics count every error as a 400. Counts `Succeeded` only for its alarm, because a metric costs money.
 */
export function addStackMetrics({ lambda, api, alarms }: MonitoredResources & Pick<CompleteSettings, 'alarms'>): void {
  const add = (log: ILogGroup, name: StackMetricName, pattern: Pattern) => addMetricFilter(log, name, name, pattern);
  add(lambda.logGroup, 'Faults', '$.message.error >= 500');
  add(lambda.logGroup, 'Throttled', '$.message.error = 429');
  add(lambda.logGroup, 'Unauthorized', '$.message.error = 401');
  if (alarms?.hourlySmokeTest) add(lambda.logGroup, 'Succeeded', '$.message.outcome = "succeeded"');
  if (!api.accessLog) return;
  add(
    api.accessLog,
    'Faults',
    `$.gatewayResponse = ${GATEWAY_FAULTS.map((type) => `"${type}"`).join(' || $.gatewayResponse = ')}`,
  );
  // API Gateway may write no line for some responses of a large flood ("Monitor REST APIs in API Gateway").
  // Not WAF_FILTERED: while an attacker is blocked, its requests would hide that clients are throttled.
  add(api.accessLog, 'Throttled', '$.gatewayResponse = "THROTTLED"');
}

/** Returns a metric of the stack, as a sum per minute. */
export function stackMetric(scope: Construct, metricName: StackMetricName): Metric {
  return new Metric({ namespace: Stack.of(scope).stackName, metricName, statistic: Stats.SUM, period: MINUTE });
}
