import { cpus } from 'node:os';
import type { Run } from './measure.ts';

const RESAMPLES = 1000;

/** Returns the table for docs/decisions.md. The first handler is the floor. */
export function markdown(handlers: { name: string; runs: Run[] }[]): string {
  const floor = handlers[0]?.runs ?? [];
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}, Node.js ${process.versions.node}`;
  const rows = handlers.map(({ name, runs }) => [
    name,
    median(runs, 'initMs').toFixed(0),
    median(runs, 'invocationMs').toFixed(1),
    ratio(runs, floor),
  ]);
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} (${machine}).`,
    `Medians of ${floor.length} interleaved rounds, and in brackets 95 % intervals.`,
    '',
    '| handler | init, ms | invocation, ms | sum / floor |',
    '| --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
}

/** Returns the ratio of two median cold starts, with its 95 % interval from resampled rounds (bootstrap). */
function ratio(runs: Run[], floor: Run[]): string {
  const resampled = Array.from({ length: RESAMPLES }, () => {
    const rounds = floor.map(() => Math.floor(Math.random() * floor.length));
    const pick = (all: Run[]) => rounds.flatMap((round) => all[round] ?? []);
    return median(pick(runs), 'totalMs') / median(pick(floor), 'totalMs');
  }).toSorted((a, b) => a - b);
  const [low, high] = [0.025, 0.975].map((part) => resampled[Math.floor(part * RESAMPLES)]?.toFixed(2));
  return `${(median(runs, 'totalMs') / median(floor, 'totalMs')).toFixed(2)} [${low} ${high}]`;
}

function median(runs: Run[], figure: keyof Run): number {
  const sorted = runs.map((run) => run[figure]).toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  // The two figures in the middle. at() rounds down, so they are the same one if the number of figures is odd.
  return (Number(sorted.at(middle - 0.5)) + Number(sorted.at(middle))) / 2;
}
