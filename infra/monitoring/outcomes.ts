import { Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ErrorNumber } from '../../functions/shared/errors.ts';
import { gatewayResponses } from '../gateway-responses.ts';

interface OutcomesProps {
  functionLog: ILogGroup;
  accessLog: ILogGroup;
}

/** The gateway response types that tell of a fault of ours. */
export const gatewayFaults = gatewayResponseTypes((error) => error >= 500);

/**
 * What became of the requests, counted from the logs, since every failure is a 400 to the gateway's
 * own metrics. Metrics in a namespace of the stack's name: `Created`; `Errors` by `error`; of what the
 * gateway answered itself `GatewayFaults` and `GatewayThrottles`.
 */
export class Outcomes extends Construct {
  readonly created: Metric;
  readonly #gatewayFaults: Metric;
  readonly #gatewayThrottles: Metric;

  constructor(scope: Construct, id: string, { functionLog, accessLog }: OutcomesProps) {
    super(scope, id);
    this.created = this.#count(functionLog, 'Created', '{ $.message.outcome = "succeeded" }');
    new MetricFilter(this, 'Errors', {
      logGroup: functionLog,
      filterPattern: FilterPattern.literal('{ $.message.error > 0 }'),
      metricNamespace: Stack.of(this).stackName,
      metricName: 'Errors',
      metricValue: '1',
      dimensions: { error: '$.message.error' },
    });
    this.#gatewayFaults = this.#count(accessLog, 'GatewayFaults', answeredBy(gatewayFaults));
    this.#gatewayThrottles = this.#count(
      accessLog,
      'GatewayThrottles',
      answeredBy(gatewayResponseTypes((error) => error === 429)),
    );
  }

  /** Requests that the function answered with an `error`. */
  errors(error: ErrorNumber): Metric {
    return this.#metric('Errors', { error: String(error) });
  }

  /** Requests that failed by a fault of ours: 500, 503 and 504, the gateway's own included. */
  faults(period: Duration): MathExpression {
    const parts = {
      e500: this.errors(500),
      e503: this.errors(503),
      e504: this.errors(504),
      gatewayFaults: this.#gatewayFaults,
    };
    return sum('Faults', parts, period);
  }

  /** Requests that were throttled, by the store or by the gateway. */
  throttled(period: Duration): MathExpression {
    return sum('Throttled (429)', { e429: this.errors(429), gatewayThrottles: this.#gatewayThrottles }, period);
  }

  #count(logGroup: ILogGroup, metricName: string, pattern: string): Metric {
    new MetricFilter(this, metricName, {
      logGroup,
      filterPattern: FilterPattern.literal(pattern),
      metricNamespace: Stack.of(this).stackName,
      metricName,
      metricValue: '1',
      defaultValue: 0,
    });
    return this.#metric(metricName);
  }

  #metric(metricName: string, dimensionsMap: Record<string, string> = {}): Metric {
    return new Metric({
      namespace: Stack.of(this).stackName,
      metricName,
      dimensionsMap,
      statistic: Stats.SUM,
      period: Duration.minutes(1),
      label: dimensionsMap['error'] ?? metricName,
    });
  }
}

function gatewayResponseTypes(matches: (error: ErrorNumber) => boolean): string[] {
  return gatewayResponses.filter(({ error }) => matches(error)).map(({ type }) => type.responseType);
}

/** Matches the access log's lines of gateway responses of these types. */
function answeredBy(types: string[]): string {
  return `{ ${types.map((type) => `$.gatewayResponse = "${type}"`).join(' || ')} }`;
}

/** Of these metrics most have data only in a minute in which something is counted. */
function sum(label: string, usingMetrics: Record<string, Metric>, period: Duration): MathExpression {
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ label, expression, usingMetrics, period });
}
