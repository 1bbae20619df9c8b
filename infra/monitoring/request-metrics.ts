import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Operation } from '../../functions/operations.ts';
import type { ErrorNumber } from '../../functions/shared/errors.ts';
import { gatewayResponses } from '../api/gateway-responses.ts';
import { ownId } from '../operations.ts';
import type { Watched } from './monitoring.ts';

type Dimensions = Record<string, string>;

/** The gateway response types that tell of a fault of ours. */
export const gatewayFaults = gatewayResponseTypes((error) => error >= 500);

/**
 * What became of the requests, counted from the logs, since every failure is a 400 to the gateway's own metrics.
 *
 * Metrics in a namespace of the stack's name: `Succeeded` by `operation`; `Errors` by `operation` and `error`; for all
 * operations together `Faults` (500, 503 and 504), `Throttled` (429), both with what the gateway answered itself, and
 * `Unauthorized` (401). Several filters publish each of these three, and CloudWatch adds them up: metrics of one name
 * and no dimensions are one metric, whatever their source ("CloudWatch concepts", Aggregation).
 */
export class Outcomes extends Construct {
  readonly faults = this.#metric('Faults');
  readonly throttled = this.#metric('Throttled');
  readonly unauthorized = this.#metric('Unauthorized');

  constructor(scope: Construct, id: string, { functions, api }: Watched) {
    super(scope, id);
    for (const { operation, logGroup } of functions) {
      const count = (metricName: string, pattern: string, dimensions?: Dimensions) =>
        this.#count(ownId(operation, metricName), logGroup, metricName, pattern, dimensions);
      const byOperation = { operation: '$.message.operation' };
      count('Succeeded', '$.message.outcome = "succeeded"', byOperation);
      count('Errors', '$.message.error > 0', { ...byOperation, error: '$.message.error' });
      count('Faults', '$.message.error >= 500');
      count('Throttled', '$.message.error = 429');
      count('Unauthorized', '$.message.error = 401');
    }
    const gatewayThrottles = gatewayResponseTypes((error) => error === 429);
    this.#count('GatewayFaults', api.accessLog, 'Faults', answeredBy(gatewayFaults));
    this.#count('GatewayThrottles', api.accessLog, 'Throttled', answeredBy(gatewayThrottles));
  }

  /** Requests of an operation that were answered 200. */
  succeeded({ operationId }: Operation): Metric {
    return this.#metric('Succeeded', { operation: operationId }).with({ label: operationId });
  }

  /** Requests of an operation that its function answered with an `error`. */
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
  return gatewayResponses.filter(({ error }) => matches(error)).map(({ type }) => type);
}

/** Matches the access log's lines of gateway responses of these types. */
function answeredBy(types: string[]): string {
  return types.map((type) => `$.gatewayResponse = "${type}"`).join(' || ');
}
