import { cpus } from 'node:os';
import type { Run } from './measure.ts';

/** A handler's name, and its runs, one for each round. */
interface Measured {
  name: string;
  runs: Run[];
}

const RESAMPLES = 1000;
const both = ({ initMs, invocationMs }: Run) => initMs + invocationMs;
const invocation = ({ invocationMs }: Run) => invocationMs;

/** Returns the chart and the table for docs/decisions.md. The first handler is the floor. */
export function markdown(handlers: Measured[]): string {
  const floor = handlers[0]?.runs ?? [];
  const rows = handlers.map(({ name, runs }) => ({
    name,
    init: median(runs.map(({ initMs }) => initMs)),
    invocation: median(runs.map(invocation)),
    ratios: [both, invocation].map((figure) => ratio(runs.map(figure), floor.map(figure))),
  }));
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}, Node.js ${process.versions.node}`;
  const totals = rows.map((row) => Math.round(row.init + row.invocation));
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} (${machine}). Medians of ${floor.length} interleaved rounds, and in brackets 95 % intervals.`,
    '',
    '```mermaid',
    'xychart-beta horizontal',
    '  title "Cold start, ms: init (front) and invocation (behind)"',
    `  x-axis ${JSON.stringify(rows.map(({ name }) => name))}`,
    `  y-axis 0 --> ${Math.max(...totals)}`,
    // The second bar is drawn over the first one.
    `  bar ${JSON.stringify(totals)}`,
    `  bar ${JSON.stringify(rows.map(({ init }) => Math.round(init)))}`,
    '```',
    '',
    '| handler | init, ms | invocation, ms | both / floor | invocation / floor |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(
      (row) => `| ${[row.name, row.init.toFixed(0), row.invocation.toFixed(1), ...row.ratios].join(' | ')} |`,
    ),
  ].join('\n');
}

/** Returns the ratio of two medians with its 95 % interval, from resampled rounds (bootstrap). */
function ratio(figures: number[], floor: number[]): string {
  const resampled = Array.from({ length: RESAMPLES }, () => {
    const rounds = floor.map(() => Math.floor(Math.random() * floor.length));
    const of = (all: number[]) => median(rounds.map((round) => all[round] ?? Number.NaN));
    return of(figures) / of(floor);
  }).toSorted((a, b) => a - b);
  const [low, high] = [0.025, 0.975].map((part) => resampled[Math.floor(part * RESAMPLES)]?.toFixed(2));
  return `${(median(figures) / median(floor)).toFixed(2)} [${low} ${high}]`;
}

function median(figures: number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  // The two figures in the middle. at() rounds down, so they are the same one if the number of figures is odd.
  const [low = Number.NaN, high = Number.NaN] = [sorted.at((sorted.length - 1) / 2), sorted.at(sorted.length / 2)];
  return (low + high) / 2;
}
