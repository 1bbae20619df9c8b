import { cpus } from 'node:os';
import { BARE, COMPARED, EMPTY, EXPRESS, OURS, type Variant, WITH_PROVIDER } from './build.ts';
import type { Run } from './measure.ts';

/** The runs of each handler, by its name. */
export type Runs = Map<string, Run[]>;

/** What `npm run bench` measured. */
export interface Measurements {
  rounds: number;
  /** The deployed memory size. */
  megabytes: number;
  /** The deployed bundle and its peers. */
  variants: Variant[];
  /** The function in other bundles. */
  otherwise: Variant[];
  cold: Runs;
  warm: Runs;
  /** By memory size, with the CPU share that Lambda gives. */
  sizes: Map<number, { cold: Runs; warm: Runs }>;
  /** The deployed bundle with the largest bodies, by their names, at the deployed memory size. */
  bodies: Runs;
}

/** The chart and the tables of docs/performance.md. Times are medians. */
export function markdown(measurements: Measurements): string {
  const { rounds, megabytes, variants, otherwise, cold, warm, sizes, bodies } = measurements;
  const deployed: Runs = sizes.get(megabytes)?.cold ?? new Map();
  const peers = variants.filter(({ name }) => ![OURS, EMPTY, WITH_PROVIDER].includes(name));
  const withProvider = variants.filter(({ name }) => name === WITH_PROVIDER);
  const fastestFirst = variants.toSorted(
    (a, b) => middle(cold, a.name, 'coldStartMs') - middle(cold, b.name, 'coldStartMs'),
  );
  const overEmpty = (name: string) => {
    const empty = figures(warm, EMPTY, 'warmCpuUs');
    return figures(warm, name, 'warmCpuUs').map((us, round) => us - (empty[round] ?? Number.NaN));
  };
  const ratio = (runs: Runs, name: string, figure: keyof Run) =>
    compare(figures(runs, OURS, figure), figures(runs, name, figure), (a, b) => a / b);
  const later = (runs: Runs, name: string) =>
    compare(figures(runs, name, 'coldStartMs'), figures(runs, OURS, 'coldStartMs'), (a, b) => a - b);
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`;
  const today = new Date().toISOString().slice(0, 10);
  return [
    `Measured on ${today} (${machine}, Node.js ${process.versions.node}, ${rounds} interleaved rounds, medians):`,
    chart(fastestFirst.map(({ name }) => [name, middle(cold, name, 'coldStartMs')])),
    table(
      'handler | cold start, ms | first invocation, ms | warm CPU, us | peak memory, MB | bundle, KB | zipped, KB',
      fastestFirst.map(({ name, bundleBytes, zippedBytes }) => [
        name === OURS ? `**${OURS}**` : name,
        middle(cold, name, 'coldStartMs').toFixed(0),
        middle(cold, name, 'firstInvocationMs').toFixed(1),
        median(overEmpty(name)).toFixed(0),
        middle(warm, name, 'peakMegabytes').toFixed(0),
        kilobytes(bundleBytes),
        kilobytes(zippedBytes),
      ]),
    ),
    table(`${OURS}, divided by | ratio | 95 % interval`, [
      ...peers.map(({ name }) => ratioRow(`${name}: cold start`, ratio(cold, name, 'coldStartMs'))),
      ratioRow(`${BARE}: first invocation`, ratio(cold, BARE, 'firstInvocationMs')),
      ratioRow(`${BARE}: cold start at ${megabytes} MB`, ratio(deployed, BARE, 'coldStartMs')),
      ratioRow(`${EXPRESS}: cold start at ${megabytes} MB`, ratio(deployed, EXPRESS, 'coldStartMs')),
      ratioRow(
        `${BARE}: warm CPU over the empty handler`,
        compare(overEmpty(OURS), overEmpty(BARE), (a, b) => a / b),
      ),
    ]),
    table(
      `${OURS} | cold start later by, ms (95 %) | at ${megabytes} MB, ms (95 %) | bundle, KB`,
      [...otherwise, ...withProvider].map(({ name, bundleBytes }) => [
        name,
        difference(later(cold, name)),
        deployed.has(name) ? difference(later(deployed, name)) : '-',
        kilobytes(bundleBytes),
      ]),
    ),
    sizesTable(sizes),
    table(
      `body, at ${megabytes} MB | first invocation, ms | peak memory, MB`,
      [...bodies.keys()].map((name) => [
        name,
        middle(bodies, name, 'firstInvocationMs').toFixed(0),
        middle(bodies, name, 'peakMegabytes').toFixed(0),
      ]),
    ),
  ].join('\n\n');
}

function sizesTable(sizes: Measurements['sizes']): string {
  return table(
    `init + first invocation, ms | ${COMPARED.join(' | ')} | ${OURS}, warm`,
    [...sizes].map(([megabytes, { cold, warm }]) => [
      `${megabytes} MB`,
      ...COMPARED.map((name) => {
        const first = middle(cold, name, 'firstInvocationMs');
        return `${(middle(cold, name, 'coldStartMs') - first).toFixed(0)} + ${first.toFixed(0)}`;
      }),
      middle(warm, OURS, 'warmWallMs').toFixed(1),
    ]),
  );
}

/** Cold starts as bars, in Mermaid's language. */
function chart(bars: [name: string, milliseconds: number][]): string {
  return [
    '```mermaid',
    'xychart-beta horizontal',
    '  title "Cold start, ms"',
    `  x-axis ${JSON.stringify(bars.map(([name]) => name))}`,
    `  y-axis 0 --> ${Math.ceil(Math.max(...bars.map(([, milliseconds]) => milliseconds)) / 50) * 50}`,
    `  bar ${JSON.stringify(bars.map(([, milliseconds]) => Math.round(milliseconds)))}`,
    '```',
  ].join('\n');
}

function table(header: string, rows: string[][]): string {
  const line = header.replaceAll(/[^|]+/g, ' --- ').trim();
  return [header, line, ...rows.map((cells) => cells.join(' | '))].map((row) => `| ${row} |`).join('\n');
}

function figures(runs: Runs, name: string, figure: keyof Run): number[] {
  return (runs.get(name) ?? []).map((run) => run[figure]);
}

function middle(runs: Runs, name: string, figure: keyof Run): number {
  return median(figures(runs, name, figure));
}

const kilobytes = (bytes: number) => String(Math.round(bytes / 1000));
const interval = ({ from, to }: Comparison, digits: number) => `${from.toFixed(digits)} to ${to.toFixed(digits)}`;
const difference = (ms: Comparison) => `${ms.value.toFixed(1)} (${interval(ms, 1)})`;
const ratioRow = (name: string, ratio: Comparison) => [name, ratio.value.toFixed(2), interval(ratio, 2)];

function median(figures: number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  return (low + high) / 2;
}

interface Comparison {
  /** Made of the two medians, so that it agrees with the medians in a table. */
  value: number;
  /** The 95 % interval: by bootstrap, of 2,000 samples of the rounds. */
  from: number;
  to: number;
}

/** Compares the medians of figures that were measured side by side in rounds, by their ratio or their difference. */
function compare(figures: number[], others: number[], by: (a: number, b: number) => number): Comparison {
  const rounds = [...figures.keys()];
  const of = (sample: number[]) => {
    const [a, b] = [figures, others].map((all) => median(sample.map((round) => all[round] ?? Number.NaN)));
    return by(a ?? Number.NaN, b ?? Number.NaN);
  };
  const sampled = Array.from({ length: 2000 }, () => of(rounds.map(() => Math.floor(Math.random() * rounds.length))));
  const [from = Number.NaN, to = Number.NaN] = [50, 1949].map((index) => sampled.sort((a, b) => a - b)[index]);
  return { value: of(rounds), from, to };
}
