import { errors } from '../../functions/shared/errors.ts';
import { dollars, PRICES, sum } from './prices.ts';

/** What neither the project nor the bench can say; docs/cost-and-scale.md names each. */
export const ASSUMED = {
  /** What a write to DynamoDB is waited for; the bench's stand-in answers at once. */
  databaseMs: 5,
  /** Headers and TLS included. */
  responseBytes: 600,
  /** That of events/create-plant.json with an id of 12 digits, and 100 more ("DynamoDB item sizes and formats"). */
  plantBytes: 141,
  /** What auto-scaling keeps of provisioned capacity in use. */
  utilisation: 0.7,
};

/** Compared with real lines by a test; start and report are Lambda's ("Lambda Telemetry API Event schema reference"). */
export const LINE_BYTES = { request: 255, access: 367, start: 286, report: 385 };

const MONTH_HOURS = 730;
const MONTH_SECONDS = MONTH_HOURS * 3600;

/** What a request takes of Lambda. */
interface Speed {
  megabytes: number;
  durationMs: number;
}

const AS_DEPLOYED = {
  gateway: PRICES.restRequests,
  provisioned: false,
  /** X-Ray's default rule: so many requests a second, and this share of the rest. */
  traced: { reservoir: 1, share: 0.05 },
  /** Whether Lambda logs the start and the report of each invocation. */
  platformLines: true,
};

/** What a stack can be changed to. */
export const CHANGES: Record<string, Partial<typeof AS_DEPLOYED>> = {
  'an HTTP API instead of the REST API': { gateway: PRICES.httpRequests },
  'provisioned write capacity': { provisioned: true },
  'X-Ray: one request a second': { traced: { reservoir: 1, share: 0 } },
  'X-Ray: one request in a hundred': { traced: { reservoir: 0, share: 0.01 } },
  'no start and report lines': { platformLines: false },
};

/** What a steady load, in requests a second, takes in a month. */
export function volumes(load: number, { durationMs }: Speed, setup = AS_DEPLOYED) {
  const requests = load * MONTH_SECONDS;
  const gigabytes = (bytesOfRequest: number) => (requests * bytesOfRequest) / 1024 ** 3;
  const atOnce = (load * durationMs) / 1000;
  // Lambda gives an environment ten requests a second at most ("Lambda scaling behavior").
  const concurrency = Math.ceil(Math.max(atOnce, load / 10));
  const functionLogBytes = LINE_BYTES.request + (setup.platformLines ? LINE_BYTES.start + LINE_BYTES.report : 0);
  const { reservoir, share } = setup.traced;
  return {
    millions: requests / 1e6,
    atOnce,
    concurrency,
    traces: MONTH_SECONDS * (Math.min(reservoir, load) + Math.max(0, load - reservoir) * share),
    plantsGB: gigabytes(ASSUMED.plantBytes),
    functionLogGB: gigabytes(functionLogBytes),
    accessLogGB: gigabytes(LINE_BYTES.access),
    logsGB: gigabytes(functionLogBytes + LINE_BYTES.access),
    dataOutGB: gigabytes(ASSUMED.responseBytes),
  };
}

/** Dollars a month, by component. */
export function monthlyCost(load: number, speed: Speed, pieces: Pieces, changes: Partial<typeof AS_DEPLOYED> = {}) {
  const setup = { ...AS_DEPLOYED, ...changes };
  const { millions, ...volume } = volumes(load, speed, setup);
  const gigabyteSeconds = millions * 1e6 * (Math.ceil(speed.durationMs) / 1000) * (speed.megabytes / 1024);
  return {
    'API Gateway': dollars(setup.gateway, millions),
    'Lambda, requests': dollars(PRICES.lambdaRequests, millions),
    'Lambda, duration': dollars(PRICES.lambdaDuration, gigabyteSeconds),
    'DynamoDB, writes': setup.provisioned
      ? dollars(PRICES.provisionedWrites, Math.ceil(load / ASSUMED.utilisation) * MONTH_HOURS)
      : dollars(PRICES.writes, millions),
    'DynamoDB, a month’s plants stored': dollars(PRICES.storageAndRecovery, volume.plantsGB),
    'function log': dollars(PRICES.lambdaLogs, volume.functionLogGB),
    'access log': dollars(PRICES.otherLogs, volume.accessLogGB),
    'X-Ray, traces': dollars(PRICES.traces, volume.traces / 1e6),
    'data out': dollars(PRICES.dataOut, volume.dataOutGB),
    // They are counted in the logs, and free while they have no data.
    'custom metrics': dollars(PRICES.customMetrics, load > 0 ? pieces.customMetrics : 0),
    'alarms, dashboard, key':
      dollars(PRICES.alarmMetrics, pieces.alarmMetrics) +
      dollars(PRICES.dashboards, pieces.dashboards) +
      dollars(PRICES.keys, pieces.keys),
  };
}

export type Pieces = ReturnType<typeof piecesOf>;

interface Properties {
  LogGroupName?: object;
  MetricTransformations?: { MetricName: string; Dimensions?: { Key: string }[] }[];
  Metrics?: { MetricStat?: object }[];
}

/** Counts what a synthesized template has that is paid by the piece; of custom metrics all that may have data. */
export function piecesOf({ Resources }: { Resources: Record<string, { Type: string; Properties?: Properties }> }) {
  const all = (type: string) =>
    Object.values(Resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties ?? {}] : []));
  const metrics = all('AWS::Logs::MetricFilter').flatMap(({ LogGroupName, MetricTransformations = [] }) =>
    MetricTransformations.map(({ MetricName, Dimensions = [] }): [name: string, count: number] => [
      // Without dimensions it is one metric, in however many logs it is counted.
      Dimensions.length > 0 ? MetricName + JSON.stringify(LogGroupName) : MetricName,
      Dimensions.some(({ Key }) => Key === 'error') ? Object.keys(errors).length : 1,
    ]),
  );
  return {
    customMetrics: sum([...new Map(metrics).values()]),
    // An alarm on an expression is paid for each metric in it.
    alarmMetrics: sum(
      all('AWS::CloudWatch::Alarm').map(({ Metrics }) => Metrics?.filter((each) => each.MetricStat).length ?? 1),
    ),
    dashboards: all('AWS::CloudWatch::Dashboard').length,
    keys: all('AWS::KMS::Key').length,
  };
}
