import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Results } from '../../bench/report.ts';
import type { Request } from '../../functions/shared/request.ts';
import { requestLog } from '../../functions/shared/request-log.ts';
import { projectRoot } from '../../local/synthesize.ts';
import { dollars, PRICES, type Price, sum } from './prices.ts';

/** What the stack has of what is paid by the piece; a test holds it against the template. */
export const PIECES = {
  customMetrics: 12,
  /** An alarm on an expression is paid for each metric in it. */
  alarmMetrics: 15,
  dashboards: 1,
  keys: 1,
};

/** What cannot be read off the project. */
export const ASSUMED = {
  /** What a write to DynamoDB is waited for; the bench's stand-in answers at once. */
  storeWaitMs: 5,
  tokensInUse: 10,
  /** Headers and TLS included. */
  responseBytes: 600,
  /** "All items in DynamoDB require 100 bytes of storage overhead" (DynamoDB item sizes and formats). */
  itemOverheadBytes: 100,
  /** What AWS's pricing calculator takes a compressed log for. */
  logCompression: 0.15,
  /** What auto-scaling keeps of provisioned capacity in use. */
  utilisation: 0.7,
  /** "10,000 requests per second" for 1,000 environments (Lambda scaling behavior). */
  environmentRequestsPerSecond: 10,
  /** DynamoDB's limit of a partition. */
  partitionWritesPerSecond: 1000,
};

export const MONTH_HOURS = 730;
export const MONTH_SECONDS = MONTH_HOURS * 3600;
const MONTH_DAYS = 30;
/** As long as the function remembers a verified token. */
const REMEMBERED_SECONDS = 60;

const event: APIGatewayProxyEvent = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));

/** One line of the access log; a test holds its members against the template. */
export const ACCESS_LINE = {
  extendedRequestId: event.requestContext.extendedRequestId,
  traceId: '1-6920d6fe-2b7c1c5a0f4e3d2c1b0a9f8e',
  time: event.requestContext.requestTime,
  sourceIp: event.requestContext.identity.sourceIp,
  method: 'POST',
  path: event.requestContext.path,
  resource: event.resource,
  status: '200',
  gatewayResponse: '-',
  integrationStatus: '200',
  integrationError: '-',
  responseLatencyMs: '21',
  integrationLatencyMs: '18',
  responseBytes: '46',
};

/** What differs in a stack that was changed to cost less. */
interface Setup {
  gateway: 'REST API' | 'HTTP API' | 'function URL';
  provisioned: boolean;
  /** X-Ray's rule: so many requests a second, and this share of the rest. */
  traced: { reservoir: number; share: number };
  /** Whether Lambda logs the start and the report of each invocation. */
  platformLines: boolean;
  /** The share of the created plants that the function logs. */
  loggedShare: number;
  accessLog: boolean;
  logDays: number;
  recovery: boolean;
}

export const AS_DEPLOYED: Setup = {
  gateway: 'REST API',
  provisioned: false,
  traced: { reservoir: 1, share: 0.05 },
  platformLines: true,
  loggedShare: 1,
  accessLog: true,
  logDays: MONTH_DAYS,
  recovery: true,
};

/** What costs neither a metric nor an alarm, and nothing of the contract. */
const IN_CONTRACT: Partial<Setup> = {
  provisioned: true,
  traced: { reservoir: 1, share: 0 },
  platformLines: false,
  loggedShare: 0.1,
};

/** What a stack can be changed to. */
export const CHANGES: Record<string, Partial<Setup>> = {
  'HTTP API in the REST API’s place': { gateway: 'HTTP API' },
  'function URL in its place, so no access log': { gateway: 'function URL', accessLog: false },
  'provisioned write capacity': { provisioned: true },
  'X-Ray: one request a second': { traced: { reservoir: 1, share: 0 } },
  'X-Ray: one request in a hundred': { traced: { reservoir: 0, share: 0.01 } },
  'no start and report lines of Lambda’s': { platformLines: false },
  'one in ten created plants logged': { loggedShare: 0.1 },
  'no access log': { accessLog: false },
  'logs kept for a week': { logDays: 7 },
  'no point-in-time recovery': { recovery: false },
  'provisioned, one trace a second, no start and report lines, one in ten logged': IN_CONTRACT,
};

export const bytesOf = (line: object) => Buffer.byteLength(JSON.stringify(line));
const gigabytes = (bytes: number) => bytes / 1024 ** 3;

/** What a request takes at the stack's memory size, by the bench. */
export function inputsFrom({ megabytes, sizes }: Results) {
  if (typeof sizes === 'string') {
    throw new Error(`bench/results.json has no times by memory size (${sizes}); npm run bench measures them on Linux.`);
  }
  const durations = sizes.map((size) => ({ ...size, durationMs: size.warmMs + ASSUMED.storeWaitMs }));
  const size = durations.find((candidate) => candidate.megabytes === megabytes);
  if (!size) throw new Error(`bench/results.json has no times at its ${megabytes} MB; npm run bench measures them.`);
  return { ...size, sizes: durations, lines: functionLines(megabytes, size.durationMs) };
}

export type Inputs = ReturnType<typeof inputsFrom>;

/** The bytes of what an invocation logs: the function's own line, in Lambda's envelope, and Lambda's two. */
function functionLines(megabytes: number, durationMs: number) {
  const time = '2026-11-21T04:00:14.123Z';
  const requestId = '8286a188-ba32-4475-8077-530cd35c09a9';
  const value = `Root=${ACCESS_LINE.traceId};Parent=35465b3a9e2f7c6a;Sampled=1`;
  const tracing = { spanId: '24cd7d670fa455f0', type: 'X-Amzn-Trace-Id', value };
  const rounded = Math.round(durationMs * 100) / 100;
  const metrics = {
    durationMs: rounded,
    billedDurationMs: Math.ceil(durationMs),
    memorySizeMB: megabytes,
    maxMemoryUsedMB: 128,
  };
  return {
    request: bytesOf({
      timestamp: time,
      level: 'INFO',
      requestId,
      message: { ...requestLine(), durationMs: rounded },
    }),
    start: bytesOf({ time, type: 'platform.start', record: { requestId, version: '12', tracing } }),
    report: bytesOf({ time, type: 'platform.report', record: { requestId, metrics, tracing, status: 'success' } }),
  };
}

/** What the function itself hands to the log for a created plant. */
function requestLine(): object {
  const { before, after } = requestLog('createPlant');
  const request = { event, context: {}, internal: { tokenName: 'ci' } } as Request;
  const { info } = console;
  let line = {};
  console.info = (logged: object) => {
    line = logged;
  };
  try {
    before?.(request);
    after?.(request);
  } finally {
    console.info = info;
  }
  return line;
}

/** A plant as DynamoDB counts it, with an id of 12 digits, which many plants have at 10,000 a second. */
export function plantBytes(): number {
  const { name, tag }: { name: string; tag: string } = JSON.parse(event.body ?? '');
  const texts = Object.entries({ name, tag }).flat();
  return 'id'.length + 12 / 2 + 1 + Buffer.byteLength(texts.join('')) + ASSUMED.itemOverheadBytes;
}

/** What a load takes, besides money. */
export function volumes(load: number, { lines, durationMs }: Inputs, setup: Setup) {
  const requests = load * MONTH_SECONDS;
  const atOnce = (load * durationMs) / 1000;
  const environments = Math.max(1, Math.ceil(atOnce), Math.ceil(load / ASSUMED.environmentRequestsPerSecond));
  const functionBytes = lines.request * setup.loggedShare + (setup.platformLines ? lines.start + lines.report : 0);
  const { reservoir, share } = setup.traced;
  return {
    requests,
    atOnce,
    environments,
    tokenReadsPerSecond: Math.min(load, (ASSUMED.tokensInUse * environments) / REMEMBERED_SECONDS),
    plantsGB: gigabytes(requests * plantBytes()),
    functionLogGB: gigabytes(requests * functionBytes),
    accessLogGB: gigabytes(setup.accessLog ? requests * bytesOf(ACCESS_LINE) : 0),
    tracesPerSecond: Math.min(reservoir, load) + Math.max(0, load - reservoir) * share,
  };
}

/** Dollars a month, by component. */
export function monthlyCost(load: number, inputs: Inputs, changes: Partial<Setup> = {}) {
  const setup = { ...AS_DEPLOYED, ...changes };
  const volume = volumes(load, inputs, setup);
  const millions = volume.requests / 1e6;
  const perSecond = (price: Price, rate: number) => dollars(price, (rate * MONTH_SECONDS) / 1e6);
  const gatewayPrice = { 'REST API': PRICES.restRequests, 'HTTP API': PRICES.httpRequests, 'function URL': undefined };
  const gateway = gatewayPrice[setup.gateway];
  const keptGB = (volume.functionLogGB + volume.accessLogGB) * ASSUMED.logCompression * (setup.logDays / MONTH_DAYS);
  return {
    'API Gateway, requests': gateway ? dollars(gateway, millions) : 0,
    'Lambda, requests': dollars(PRICES.lambdaRequests, millions),
    'Lambda, duration': lambdaDuration(volume.requests, inputs),
    'DynamoDB, writes': setup.provisioned
      ? dollars(PRICES.provisionedWrites, Math.ceil(load / ASSUMED.utilisation) * MONTH_HOURS)
      : dollars(PRICES.writes, millions),
    'DynamoDB, token look-ups': perSecond(PRICES.reads, volume.tokenReadsPerSecond),
    'DynamoDB, a month’s plants stored': plantStorage(volume.plantsGB, setup.recovery),
    'Function log': dollars(PRICES.lambdaLogs, volume.functionLogGB),
    'Access log': dollars(PRICES.otherLogs, volume.accessLogGB),
    'Logs kept for a month': dollars(PRICES.keptLogs, keptGB),
    'X-Ray, traces': perSecond(PRICES.traces, volume.tracesPerSecond),
    'Data out': dollars(PRICES.dataOut, gigabytes(volume.requests * ASSUMED.responseBytes)),
    'Metrics, alarms, dashboard, key': sum(
      (['customMetrics', 'alarmMetrics', 'dashboards', 'keys'] as const).map((piece) =>
        dollars(PRICES[piece], PIECES[piece]),
      ),
    ),
  };
}

export function lambdaDuration(requests: number, { durationMs, megabytes }: { durationMs: number; megabytes: number }) {
  return dollars(PRICES.lambdaDuration, requests * (Math.ceil(durationMs) / 1000) * (megabytes / 1024));
}

function plantStorage(plantsGB: number, recovery: boolean): number {
  return dollars(PRICES.storage, plantsGB) + (recovery ? dollars(PRICES.recovery, plantsGB) : 0);
}

export type Component = keyof ReturnType<typeof monthlyCost>;
