import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, withOwnAssembly } from '../../local/synthesize.ts';
import { command } from '../../operate/command.ts';
import { writeSection } from '../document-section.ts';
import { ASSUMED, CHANGES, monthlyCost, type Pieces, piecesOf, volumes } from './monthly-cost.ts';
import { sum } from './prices.ts';

/*
 * npm run cost: computes the tables of docs/cost-and-scale.md from the synthesized stack and the last
 * bench, prints them and writes them into the document, and three of its figures into the README.
 */

/** What is needed of bench/results.json: the stack's memory size, and times by size or why there are none. */
interface Results {
  date: string;
  megabytes: number;
  sizes: { megabytes: number; warmMs: number }[] | string;
}

/** In requests a second. */
const MAX_LOAD = 10_000;
const LOADS = [1, 100, MAX_LOAD];

/** What a request takes at each memory size, and at the stack's. */
function speedsOf({ megabytes, sizes }: Results) {
  const measured = typeof sizes === 'string' ? [] : sizes;
  const speeds = measured.map((size) => ({ ...size, durationMs: size.warmMs + ASSUMED.databaseMs }));
  const speed = speeds.find((size) => size.megabytes === megabytes);
  if (!speed) throw new Error(`bench/results.json has no time at ${megabytes} MB; npm run bench measures it on Linux.`);
  return { speeds, speed };
}

/** The README's three figures. */
export function summary(results: Results, pieces: Pieces): string {
  const { speed } = speedsOf(results);
  const totals = [0, 1, 100].map((load) => figure(sum(Object.values(monthlyCost(load, speed, pieces)))));
  return table(
    ['dollars a month, us-east-1, list prices', 'at rest', '1 request a second', '100 requests a second'],
    [['the whole stack ([how it is computed](docs/cost-and-scale.md))', ...totals]],
  );
}

/** The tables of docs/cost-and-scale.md. */
export function markdown(results: Results, pieces: Pieces): string {
  const { date, megabytes } = results;
  const { speeds, speed } = speedsOf(results);

  const { alarmMetrics, dashboards, keys, customMetrics } = pieces;
  const cost = (load: number, change = {}) => monthlyCost(load, speed, pieces, change);
  const total = (load: number, change = {}) => sum(Object.values(cost(load, change)));
  // Object.keys() returns plain strings.
  const components = Object.keys(cost(0)) as (keyof ReturnType<typeof cost>)[];
  const header = ['', ...LOADS.map((load) => `${figure(load)}/s`)];
  const row = (name: string, of: (load: number) => number) => [name, ...LOADS.map((load) => figure(of(load)))];
  return [
    `**At rest**, without a request, a month costs **$${figure(total(0))}**: ${alarmMetrics} metrics in alarms, ${dashboards} dashboard, ${keys} key.`,
    `A request takes ${speed.durationMs.toFixed(1)} ms at ${megabytes} MB, ${speed.warmMs.toFixed(1)} without DynamoDB (measured on ${date}).`,
    `**Dollars a month**, with all ${customMetrics} custom metrics in use:`,
    table(header, [...components.map((name) => row(name, (load) => cost(load)[name])), row('**all**', total)]),
    '**What each load takes:**',
    table(header, [
      row('requests in the function at once', (load) => volumes(load, speed).atOnce),
      row('Lambda concurrency', (load) => volumes(load, speed).concurrency),
      row('plants, GB a month', (load) => volumes(load, speed).plantsGB),
      row('logs, GB a month', (load) => volumes(load, speed).logsGB),
    ]),
    '**Dollars a month that a change saves**, each on its own:',
    table(
      header,
      Object.entries(CHANGES).map(([name, change]) => row(name, (load) => total(load) - total(load, change))),
    ),
    `**Memory**, at ${figure(MAX_LOAD)}/s:`,
    table(
      ['MB', 'ms', 'Lambda, duration, $ a month'],
      speeds.map((size) => {
        const { 'Lambda, duration': dollars } = monthlyCost(MAX_LOAD, size, pieces);
        return [figure(size.megabytes), size.durationMs.toFixed(1), figure(dollars)];
      }),
    ),
  ].join('\n\n');
}

function figure(number: number): string {
  const digits = Number.isInteger(number) || number >= 100 ? 0 : 2;
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function table(header: string[], rows: string[][]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

if (import.meta.main) {
  await command({ usage: 'Usage: npm run cost' }, async () => {
    const read = (file: string) => readFileSync(file, 'utf8');
    const template = await withOwnAssembly(async (assembly) => read(join(assembly, 'PlantStore.template.json')));
    const pieces = piecesOf(JSON.parse(template));
    const results: Results = JSON.parse(read(join(projectRoot, 'bench/results.json')));
    console.log(markdown(results, pieces));
    writeSection('docs/cost-and-scale.md', 'cost', markdown(results, pieces));
    writeSection('README.md', 'cost', summary(results, pieces));
  });
}
