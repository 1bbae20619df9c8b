import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Results } from '../../bench/report.ts';
import { projectRoot } from '../../local/synthesize.ts';
import { command } from '../../operate/command.ts';
import {
  ACCESS_LINE,
  AS_DEPLOYED,
  ASSUMED,
  bytesOf,
  CHANGES,
  type Component,
  type Inputs,
  inputsFrom,
  lambdaDuration,
  MONTH_HOURS,
  MONTH_SECONDS,
  monthlyCost,
  PIECES,
  plantBytes,
  volumes,
} from './monthly-cost.ts';
import { dollars, PRICES, type Price, sum } from './prices.ts';

/*
 * npm run cost: what a month costs at three loads, what each load takes and what a change saves, as
 * Markdown, printed and written into docs/cost-and-scale.md.
 */

const HIGHEST = 10_000;
const LOADS = [1, 100, HIGHEST];

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
