import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Results } from '../bench/report.ts';
import type { Request } from '../functions/create-plant/request.ts';
import { requestLog } from '../functions/create-plant/request-log.ts';
import { command } from '../local/command.ts';
import { projectRoot } from '../local/synthesize.ts';
import { dollars, PRICES, type Price, sum } from './prices.ts';

/*
 * npm run cost: what a month costs at three loads, what each load takes and what a change saves, as
 * Markdown, printed and written into docs/cost-and-scale.md.
 */

/** What the stack has of what is paid by the piece; a test holds it against the template. */
export const PIECES = {
  customMetrics: 12,
  /** An alarm on an expression is paid for each metric in it. */
  alarmMetrics: 14,
  dashboards: 1,
  keys: 1,
};

/** What cannot be read off the project. */
const ASSUMED = {
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

const HIGHEST = 10_000;
const LOADS = [1, 100, HIGHEST];
const MONTH_HOURS = 730;
const MONTH_SECONDS = MONTH_HOURS * 3600;
const MONTH_DAYS = 30;
/** As long as the function remembers a verified token. */
const REMEMBERED_SECONDS = 60;

const event: APIGatewayProxyEvent = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));

/** One line of the access log; a test holds its members against the template. */
export const ACCESS_LINE = {
  requestId: event.requestContext.requestId,
  traceId: '1-6920d6fe-2b7c1c5a0f4e3d2c1b0a9f8e',
  time: event.requestContext.requestTime,
  sourceIp: event.requestContext.identity.sourceIp,
  method: 'POST',
  path: event.requestContext.path,
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

const AS_DEPLOYED: Setup = {
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

const CHANGES: Record<string, Partial<Setup>> = {
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

const bytesOf = (line: object) => Buffer.byteLength(JSON.stringify(line));
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

type Inputs = ReturnType<typeof inputsFrom>;

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
  const { before, after } = requestLog();
  const request = { event, context: { awsRequestId: '' }, internal: { tokenName: 'ci' } } as Request;
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
function plantBytes(): number {
  const { name, tag }: { name: string; tag: string } = JSON.parse(event.body ?? '');
  const texts = Object.entries({ name, tag }).flat();
  return 'id'.length + 12 / 2 + 1 + Buffer.byteLength(texts.join('')) + ASSUMED.itemOverheadBytes;
}

/** What a load takes, besides money. */
function volumes(load: number, { lines, durationMs }: Inputs, setup: Setup) {
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

function lambdaDuration(requests: number, { durationMs, megabytes }: { durationMs: number; megabytes: number }) {
  return dollars(PRICES.lambdaDuration, requests * (Math.ceil(durationMs) / 1000) * (megabytes / 1024));
}

function plantStorage(plantsGB: number, recovery: boolean): number {
  return dollars(PRICES.storage, plantsGB) + (recovery ? dollars(PRICES.recovery, plantsGB) : 0);
}

type Component = keyof ReturnType<typeof monthlyCost>;

const total = (costs: Record<Component, number>) => sum(Object.values(costs));

function figure(number: number, digits = Number.isInteger(number) || number >= 100 ? 0 : 2): string {
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const money = (amount: number) => figure(amount, Math.abs(amount) < 100 ? 2 : 0);

function percent(share: number): string {
  return share > 0 && share < 0.005 ? '<1 %' : `${figure(Math.round(share * 100))} %`;
}

function table(header: string[], rows: string[][]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const perLoad = LOADS.map((load) => `${figure(load)}/s`);

/** All figures of docs/cost-and-scale.md. */
export function markdown(results: Results): string {
  const inputs = inputsFrom(results);
  return [
    inputList(results, inputs),
    '**Dollars a month**, and the share of the whole:',
    costTable(inputs),
    dominance(inputs),
    '**What each load takes:**',
    volumeTable(inputs),
    '**Dollars a month that one change saves**, each on its own:',
    savingsTable(inputs),
    breakEven(inputs),
    `**Memory**, at ${figure(HIGHEST)}/s:`,
    memoryTable(inputs),
    '**Prices** in USD, us-east-1:',
    priceTable(),
  ].join('\n\n');
}

function inputList({ date }: Results, { megabytes, warmMs, durationMs, lines }: Inputs): string {
  const { storeWaitMs, tokensInUse, responseBytes, itemOverheadBytes, logCompression } = ASSUMED;
  const { traced } = AS_DEPLOYED;
  return [
    `- Load: steady for a month of ${MONTH_HOURS} h; every request creates a plant of less than 1 KB, one write request unit.`,
    `- Duration: ${warmMs.toFixed(1)} ms warm at ${megabytes} MB (measured on ${date}) and ${storeWaitMs} ms for DynamoDB (assumed): ${durationMs.toFixed(1)} ms, of which Lambda bills ${Math.ceil(durationMs)}.`,
    `- Logs: the function's line of ${lines.request} bytes, Lambda's start and report of ${lines.start} and ${lines.report}, the access log's of ${bytesOf(ACCESS_LINE)}; kept compressed to ${percent(logCompression)}.`,
    `- A plant takes ${plantBytes()} bytes, ${itemOverheadBytes} of them DynamoDB's own; a response ${responseBytes}, headers and TLS included (assumed).`,
    `- ${tokensInUse} tokens in use (assumed), each read once a minute by each environment; cold starts are too few to count.`,
    `- X-Ray's default rule: ${traced.reservoir} request a second and ${percent(traced.share)} of the rest. By the piece: ${PIECES.customMetrics} custom metrics, ${PIECES.alarmMetrics} metrics in alarms, ${PIECES.dashboards} dashboard, ${PIECES.keys} key.`,
  ].join('\n');
}

function costTable(inputs: Inputs): string {
  const all = LOADS.map((load) => {
    const costs = monthlyCost(load, inputs);
    return { costs, whole: total(costs), millions: (load * MONTH_SECONDS) / 1e6 };
  });
  const components = Object.keys(monthlyCost(1, inputs)) as Component[];
  return table(
    ['', ...perLoad],
    [
      ...components.map((component) => [
        component,
        ...all.map(({ costs, whole }) => `${money(costs[component])} (${percent(costs[component] / whole)})`),
      ]),
      ['**all**', ...all.map(({ whole }) => `**${money(whole)}**`)],
      ['a million requests', ...all.map(({ whole, millions }) => money(whole / millions))],
    ],
  );
}

function dominance(inputs: Inputs): string {
  return LOADS.map((load) => {
    const costs = monthlyCost(load, inputs);
    const largest = Object.entries(costs)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 3)
      .map(([component, amount]) => `${component} (${percent(amount / total(costs))})`);
    return `- Largest at ${figure(load)}/s: ${largest.join('; ')}.`;
  }).join('\n');
}

function volumeTable(inputs: Inputs): string {
  const all = LOADS.map((load) => ({ load, ...volumes(load, inputs, AS_DEPLOYED) }));
  const row = (name: string, of: (volume: (typeof all)[number]) => number) => [
    name,
    ...all.map((volume) => figure(of(volume))),
  ];
  const { environmentRequestsPerSecond, partitionWritesPerSecond } = ASSUMED;
  return table(
    ['', ...perLoad],
    [
      row('requests a month, millions', ({ requests }) => requests / 1e6),
      row(`requests in the function at once: load x ${inputs.durationMs.toFixed(1)} ms`, ({ atOnce }) => atOnce),
      row(
        `Lambda concurrency: as many, at least load / ${environmentRequestsPerSecond}`,
        ({ environments }) => environments,
      ),
      row('writes a second', ({ load }) => load),
      row(`partitions, at least: load / ${figure(partitionWritesPerSecond)}`, ({ load }) =>
        Math.ceil(load / partitionWritesPerSecond),
      ),
      row('token look-ups a second', ({ tokenReadsPerSecond }) => tokenReadsPerSecond),
      row('traces a second', ({ tracesPerSecond }) => tracesPerSecond),
      row('plants, GB a month', ({ plantsGB }) => plantsGB),
      row('logs, GB a month', ({ functionLogGB, accessLogGB }) => functionLogGB + accessLogGB),
    ],
  );
}

function savingsTable(inputs: Inputs): string {
  return table(
    ['', ...perLoad],
    Object.entries(CHANGES).map(([name, change]) => [
      name,
      ...LOADS.map((load) => {
        const before = total(monthlyCost(load, inputs));
        const saved = before - total(monthlyCost(load, inputs, change));
        return `${money(saved)} (${percent(saved / before)})`;
      }),
    ]),
  );
}

function breakEven(inputs: Inputs): string {
  const used = dollars(PRICES.provisionedWrites, 1) / dollars(PRICES.writes, 3600 / 1e6);
  const cost = monthlyCost(1, inputs);
  const months = cost['DynamoDB, writes'] / cost['DynamoDB, a month’s plants stored'];
  return [
    `- Provisioned writes cost less than on-demand ones where more than ${percent(used)} of them are used (computed above at ${percent(ASSUMED.utilisation)}).`,
    `- Plants are never deleted: every month adds the storage of its own. After ${Math.ceil(months)} months the storage costs as much as the writes.`,
  ].join('\n');
}

function memoryTable({ sizes }: Inputs): string {
  const requests = HIGHEST * MONTH_SECONDS;
  return table(
    ['MB', 'ms, with DynamoDB', 'Lambda, duration, $ a month', 'requests at once'],
    sizes.map((size) => [
      String(size.megabytes),
      size.durationMs.toFixed(1),
      money(lambdaDuration(requests, size)),
      figure(Math.round((HIGHEST * size.durationMs) / 1000)),
    ]),
  );
}

function priceTable(): string {
  const pages = Map.groupBy(Object.values(PRICES), ({ page }) => page);
  const tier = ({ from, each }: Price['tiers'][number]) => `${each}${from > 0 ? ` beyond ${figure(from)}` : ''}`;
  return table(
    ['page', '$ for one'],
    [...pages].map(([page, prices]) => [
      page,
      prices.map(({ unit, tiers }) => `${unit}: ${tiers.map(tier).join(', ')}`).join('; '),
    ]),
  );
}

if (import.meta.main) {
  await command(async () => {
    const text = markdown(JSON.parse(readFileSync(join(projectRoot, 'bench/results.json'), 'utf8')));
    console.log(text);
    const file = join(projectRoot, 'docs/cost-and-scale.md');
    const section = /(<!-- cost -->\n).*(<!-- \/cost -->)/s;
    const document = readFileSync(file, 'utf8');
    if (!section.test(document)) throw new Error(`${file} has no <!-- cost --> section to write into.`);
    writeFileSync(
      file,
      document.replace(section, (_, open, close) => `${open}${text}\n${close}`),
    );
  });
}
