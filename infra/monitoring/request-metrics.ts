import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Operation } from '../../contract/operations.ts';
import type { ErrorNumber } from '../../functions/shared/errors.ts';
import { gatewayResponses } from '../api/gateway-responses.ts';
import { constructId } from '../operations.ts';
import type { Monitored } from './monitored.ts';

type Dimensions = Record<string, string>;

/** The types of the gateway responses with error 500 or above. */
export const gatewayFaults = gatewayResponseTypes((error) => error >= 500);

/**
 * Metrics of the requests, counted from the logs: API Gateway's own metrics count every error as a 400.
 *
 * Their namespace is the stack's name: `Succeeded` by `operation`; `Errors` by `operation` and `error`; and for all
 * operations and the gateway together `Faults` (error 500, 503 and 504), `Throttled` (429) and `Unauthorized` (401).
 * Several filters count each of these three, and CloudWatch adds them up: metrics with one name and no dimensions are
 * one metric ("CloudWatch concepts", Aggregation).
 */
export class RequestMetrics extends Construct {
  readonly faults = this.#metric('Faults');
  readonly throttled = this.#metric('Throttled');
  readonly unauthorized = this.#metric('Unauthorized');

  constructor(scope: Construct, id: string, { functions, api }: Pick<Monitored, 'functions' | 'api'>) {
    super(scope, id);
    for (const { operation, logGroup } of functions) {
      const count = (metricName: string, pattern: string, dimensions?: Dimensions) =>
        this.#count(`${constructId(operation)}${metricName}`, logGroup, metricName, pattern, dimensions);
      const byOperation = { operation: '$.message.operation' };
      count('Succeeded', '$.message.outcome = "succeeded"', byOperation);
      count('Errors', '$.message.error > 0', { ...byOperation, error: '$.message.error' });
      count('Faults', '$.message.error >= 500');
      count('Throttled', '$.message.error = 429');
      count('Unauthorized', '$.message.error = 401');
    }
    const gatewayThrottles = gatewayResponseTypes((error) => error === 429);
    this.#count('GatewayFaults', api.accessLog, 'Faults', isOneOf(gatewayFaults));
    this.#count('GatewayThrottles', api.accessLog, 'Throttled', isOneOf(gatewayThrottles));
  }

  /** Requests to which an operation responded with 200. */
  succeeded({ operationId }: Operation): Metric {
    return this.#metric('Succeeded', { operation: operationId }).with({ label: operationId });
  }

  /** Requests to which an operation's function responded with an `error`. */
  errors({ operationId }: Operation, error: ErrorNumber): Metric {
    return this.#metric('Errors', { operation: operationId, error: String(error) }).with({ label: String(error) });
  }

  #count(id: string, logGroup: ILogGroup, metricName: string, pattern: string, dimensions?: Dimensions): void {
    new MetricFilter(this, id, {
      logGroup,
      filterPattern: FilterPattern.literal(`{ ${pattern} }`),
      metricNamespace: Stack.of(this).stackName,
      metricName,
      metricValue: '1',
      // With dimensions there can be no default ("Creating metrics from log events using filters").
      ...(dimensions ? { dimensions } : { defaultValue: 0 }),
    });
  }

  #metric(metricName: string, dimensionsMap: Dimensions = {}): Metric {
    return new Metric({
      namespace: Stack.of(this).stackName,
      metricName,
      dimensionsMap,
      statistic: Stats.SUM,
      period: Duration.minutes(1),
      label: metricName,
    });
  }
}

function gatewayResponseTypes(matches: (error: ErrorNumber) => boolean): string[] {
  return Object.entries(gatewayResponses).flatMap(([type, { error }]) => (matches(error) ? type : []));
}

/** Matches the access log's lines of gateway responses of these types. */
function isOneOf(types: string[]): string {
  return types.map((type) => `$.gatewayResponse = "${type}"`).join(' || ');
}
