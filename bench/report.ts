import { cpus } from 'node:os';
import { BASELINE, type Handler } from './build.ts';
import type { Run } from './measure.ts';

/** A handler and its runs, one for each round. */
export interface MeasuredHandler extends Handler {
  runs: Run[];
}

/** Returns the chart and the table for docs/cost-and-performance.md. */
export function markdown(handlers: MeasuredHandler[]): string {
  const today = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`;
  const rounds = `${handlers[0]?.runs.length} interleaved rounds`;
  const coldStarts = Object.fromEntries(handlers.map(({ name, runs }) => [name, median(runs, 'coldStartMs')]));
  return [
    `Measured on ${today} (${machine}, Node.js ${process.versions.node}, ${rounds}, medians):`,
    barChart('Cold start, ms', coldStarts),
    table(
      `handler | cold start, ms | / ${BASELINE} | warm, ms`,
      handlers.map(({ name, runs }) => [
        name,
        Number(coldStarts[name]).toFixed(0),
        (Number(coldStarts[name]) / Number(coldStarts[BASELINE])).toFixed(2),
        median(runs, 'warmMs').toFixed(1),
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

/** Returns a Mermaid chart. It is horizontal, because names side by side would overlap. */
function barChart(title: string, bars: Record<string, number>): string {
  const lengths = Object.values(bars).map(Math.round);
  return [
    '```mermaid',
    'xychart-beta horizontal',
    `  title "${title}"`,
    `  x-axis ${JSON.stringify(Object.keys(bars))}`,
    `  y-axis 0 --> ${Math.max(...lengths)}`,
    `  bar ${JSON.stringify(lengths)}`,
    '```',
  ].join('\n');
}
