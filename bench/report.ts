import { statSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Handler } from './build.ts';
import type { Run } from './measure.ts';

/** A handler and its runs, one for each round. */
export interface MeasuredHandler extends Handler {
  runs: Run[];
}

/** Returns the table for docs/performance.md. */
export function markdown(handlers: MeasuredHandler[]): string {
  const today = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`;
  const rounds = `${handlers[0]?.runs.length} interleaved rounds`;
  const sdkRuns = handlers.find(({ name }) => name === 'bare SDK')?.runs ?? [];
  const ratio = (runs: Run[], figure: keyof Run) => (median(runs, figure) / median(sdkRuns, figure)).toFixed(2);
  return [
    `Measured on ${today} (${machine}, Node.js ${process.versions.node}, ${rounds}, medians):`,
    table(
      'handler | cold start, ms | / bare SDK | warm, ms | warm CPU, us | / bare SDK | peak memory, MB | bundle, KB',
      handlers.map(({ name, folder, runs }) => [
        name,
        median(runs, 'coldStartMs').toFixed(0),
        ratio(runs, 'coldStartMs'),
        median(runs, 'warmMs').toFixed(1),
        median(runs, 'warmCpuUs').toFixed(0),
        ratio(runs, 'warmCpuUs'),
        median(runs, 'peakMegabytes').toFixed(0),
        (statSync(`${folder}/index.mjs`).size / 1000).toFixed(0),
      ]),
    ),
  ].join('\n\n');
}

function median(runs: Run[], figure: keyof Run): number {
  const sorted = runs.map((run) => run[figure]).toSorted((a, b) => a - b);
  // The two figures in the middle. at() rounds down, so they are the same one if the number of figures is odd.
  const [low = Number.NaN, high = Number.NaN] = [sorted.at((sorted.length - 1) / 2), sorted.at(sorted.length / 2)];
  return (low + high) / 2;
}

function table(header: string, rows: string[][]): string {
  const line = header.replaceAll(/[^|]+/g, ' --- ').trim();
  return [header, line, ...rows.map((cells) => cells.join(' | '))].map((row) => `| ${row} |`).join('\n');
}
