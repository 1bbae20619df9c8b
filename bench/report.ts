import { cpus } from 'node:os';
import { AT_EVERY_SIZE, BARE_SDK, EMPTY, EXPRESS, PLANT_STORE, type Variant, WITH_JWT } from './build.ts';
import type { Run } from './measure.ts';

/** The runs of each handler by name. */
export type Runs = Map<string, Run[]>;

/** The results of `npm run bench`. */
export interface Measurements {
  rounds: number;
  /** The deployed memory size. */
  megabytes: number;
  /** The deployed bundle and its peers. */
  variants: Variant[];
  /** The function, bundled with alternative options. */
  alternatives: Variant[];
  cold: Runs;
  warm: Runs;
  /** The runs with Lambda's share of a CPU, by memory size. */
  sizes: Map<number, { cold: Runs; warm: Runs }>;
  /** The runs of the deployed bundle with large bodies, at the deployed memory size, by the body's name. */
  bodies: Runs;
}

/** Returns the tables for docs/performance.md. Times are medians. */
export function markdown(measurements: Measurements): string {
  const { rounds, megabytes, variants, alternatives, cold, warm, sizes, bodies } = measurements;
  const deployed: Runs = sizes.get(megabytes)?.cold ?? new Map();
  const peers = variants.filter(({ name }) => ![PLANT_STORE, EMPTY, WITH_JWT].includes(name));

  const coldStart = ({ name }: Variant) => medianOf(cold, name, 'coldStartMs');
  const cpuAboveEmpty = (name: string) => {
    const empty = figures(warm, EMPTY, 'warmCpuUs');
    return figures(warm, name, 'warmCpuUs').map((us, round) => us - (empty[round] ?? Number.NaN));
  };
  const ratio = (runs: Runs, name: string, figure: keyof Run) =>
    compare(figures(runs, PLANT_STORE, figure), figures(runs, name, figure), (a, b) => a / b);
  const delay = (runs: Runs, name: string) =>
    compare(figures(runs, name, 'coldStartMs'), figures(runs, PLANT_STORE, 'coldStartMs'), (a, b) => a - b);
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`;
  const today = new Date().toISOString().slice(0, 10);
  return [
    `Measured on ${today} (${machine}, Node.js ${process.versions.node}, ${rounds} interleaved rounds, medians):`,
    table(
      'handler | cold start, ms | first invocation, ms | warm CPU, us | peak memory, MB | bundle, KB',
      variants
        .toSorted((a, b) => coldStart(a) - coldStart(b))
        .map(({ name, bundleBytes }) => [
          name === PLANT_STORE ? `**${PLANT_STORE}**` : name,
          medianOf(cold, name, 'coldStartMs').toFixed(0),
          medianOf(cold, name, 'firstInvocationMs').toFixed(1),
          median(cpuAboveEmpty(name)).toFixed(0),
          medianOf(warm, name, 'peakMegabytes').toFixed(0),
          kilobytes(bundleBytes),
        ]),
    ),
    table(`${PLANT_STORE}, divided by | ratio | 95 % interval`, [
      ...peers.map(({ name }) => ratioRow(`${name}: cold start`, ratio(cold, name, 'coldStartMs'))),
      ratioRow(`${BARE_SDK}: first invocation`, ratio(cold, BARE_SDK, 'firstInvocationMs')),
      ratioRow(`${BARE_SDK}: cold start at ${megabytes} MB`, ratio(deployed, BARE_SDK, 'coldStartMs')),
      ratioRow(`${EXPRESS}: cold start at ${megabytes} MB`, ratio(deployed, EXPRESS, 'coldStartMs')),
      ratioRow(
        `${BARE_SDK}: warm CPU above the empty handler's`,
        compare(cpuAboveEmpty(PLANT_STORE), cpuAboveEmpty(BARE_SDK), (a, b) => a / b),
      ),
    ]),
    table(
      `change of the ${PLANT_STORE} | cold start: ms more (95 %) | at ${megabytes} MB: ms more (95 %) | bundle, KB`,
      alternatives.map(({ name, bundleBytes }) => [
        name,
        difference(delay(cold, name)),
        difference(delay(deployed, name)),
        kilobytes(bundleBytes),
      ]),
    ),
    table(
      `init + first invocation, ms | ${AT_EVERY_SIZE.join(' | ')} | ${PLANT_STORE}, warm`,
      [...sizes].map(([size, runs]) => [
        `${size} MB`,
        ...AT_EVERY_SIZE.map((name) => {
          const first = medianOf(runs.cold, name, 'firstInvocationMs');
          return `${(medianOf(runs.cold, name, 'coldStartMs') - first).toFixed(0)} + ${first.toFixed(0)}`;
        }),
        medianOf(runs.warm, PLANT_STORE, 'warmWallMs').toFixed(1),
      ]),
    ),
    table(
      `body, at ${megabytes} MB | first invocation, ms | peak memory, MB`,
      [...bodies.keys()].map((name) => [
        name,
        medianOf(bodies, name, 'firstInvocationMs').toFixed(0),
        medianOf(bodies, name, 'peakMegabytes').toFixed(0),
      ]),
    ),
  ].join('\n\n');
}

function table(header: string, rows: string[][]): string {
  const line = header.replaceAll(/[^|]+/g, ' --- ').trim();
  return [header, line, ...rows.map((cells) => cells.join(' | '))].map((row) => `| ${row} |`).join('\n');
}

function figures(runs: Runs, name: string, figure: keyof Run): number[] {
  return (runs.get(name) ?? []).map((run) => run[figure]);
}

function medianOf(runs: Runs, name: string, figure: keyof Run): number {
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
  /** The ratio or difference of the medians. */
  value: number;
  /** The bounds of the 95 % interval, from 2,000 random samples of the rounds (bootstrap). */
  from: number;
  to: number;
}

/** Compares the medians of figures from the same rounds. `by` computes their ratio or difference. */
function compare(figures: number[], others: number[], by: (a: number, b: number) => number): Comparison {
  const rounds = [...figures.keys()];
  const compareRounds = (sample: number[]) => {
    const [a, b] = [figures, others].map((all) => median(sample.map((round) => all[round] ?? Number.NaN)));
    return by(a ?? Number.NaN, b ?? Number.NaN);
  };
  const sampleRounds = () => rounds.map(() => Math.floor(Math.random() * rounds.length));
  const samples = Array.from({ length: 2000 }, () => compareRounds(sampleRounds())).toSorted((a, b) => a - b);
  const [from = Number.NaN, to = Number.NaN] = [samples[50], samples[1949]];
  return { value: compareRounds(rounds), from, to };
}
