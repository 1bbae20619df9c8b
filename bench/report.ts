import { BARE, OURS, type Variant } from './build.ts';
import type { Run } from './measure.ts';
import type { Comparison } from './statistics.ts';

/** What `npm run bench` measured; times are medians. */
export interface Results {
  date: string;
  machine: string;
  node: string;
  rounds: number;
  /** The stack's memory size, by which the CPU share of `coldStartAtShareMs` is set. */
  megabytes: number;
  variants: VariantResult[];
  /** Of the deployed bundle's figures to another's. */
  ratios: Record<string, Comparison>;
  /** The deployed bundle without one of its trimmings each, and the bare SDK's: how much later each is, round by round. */
  untrimmed: { name: string; coldStartMs: number; laterMs: Comparison; bundleBytes: number }[];
  /** Absent where the machine has no CPU shares, with the reason. */
  sizes: SizeResult[] | string;
}

export interface VariantResult extends Omit<Variant, 'directory'>, Omit<Run, 'warmWallMs'> {
  coldStartAtShareMs: number | undefined;
}

export interface SizeResult extends Pick<Run, 'coldStartMs' | 'firstInvocationMs'> {
  megabytes: number;
  warmMs: number;
}

const kilobytes = (bytes: number) => String(Math.round(bytes / 1000));
const interval = ({ from, to }: Comparison, digits: number) => `${from.toFixed(digits)} to ${to.toFixed(digits)}`;
const table = (header: string[], rows: string[][]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The tables of docs/performance.md. */
export function markdown(results: Results): string {
  const { date, machine, node, rounds, megabytes, variants, ratios, untrimmed, sizes } = results;
  const bare = variants.find(({ name }) => name === BARE)?.coldStartMs ?? Number.NaN;
  return [
    `Measured on ${date} (${machine}, Node.js ${node}, ${rounds} interleaved rounds, medians):`,
    table(
      [
        'handler',
        'cold start, ms (of bare SDK)',
        'first invocation, ms',
        `cold start at ${megabytes} MB, ms`,
        'warm CPU, us',
        'peak memory, MB',
        'bundle, KB',
        'zipped, KB',
      ],
      variants
        .toSorted((a, b) => a.coldStartMs - b.coldStartMs)
        .map((variant) => [
          variant.name === OURS ? `**${OURS}**` : variant.name,
          `${variant.coldStartMs.toFixed(0)} (${(variant.coldStartMs / bare).toFixed(2)})`,
          variant.firstInvocationMs.toFixed(1),
          variant.coldStartAtShareMs?.toFixed(0) ?? 'n/a',
          variant.warmCpuUs.toFixed(0),
          variant.peakMegabytes.toFixed(0),
          kilobytes(variant.bundleBytes),
          kilobytes(variant.zippedBytes),
        ]),
    ),
    table(
      [`${OURS}, divided by`, 'ratio', '95 % interval'],
      Object.entries(ratios).map(([name, ratio]) => [name, ratio.median.toFixed(2), interval(ratio, 2)]),
    ),
    table(
      [OURS, 'cold start, ms', 'later by, ms', '95 % interval', 'bundle, KB'],
      untrimmed.map(({ name, coldStartMs, laterMs, bundleBytes }) => [
        name === BARE ? 'a bare handler with none of it' : name,
        coldStartMs.toFixed(0),
        laterMs.median.toFixed(1),
        interval(laterMs, 1),
        kilobytes(bundleBytes),
      ]),
    ),
    typeof sizes === 'string'
      ? `CPU shares could not be set on this machine: ${sizes}.`
      : table(
          ['memory, MB', 'cold start, ms', 'first invocation, ms', 'warm, ms'],
          sizes.map((size) => [
            String(size.megabytes),
            size.coldStartMs.toFixed(0),
            size.firstInvocationMs.toFixed(1),
            size.warmMs.toFixed(2),
          ]),
        ),
  ].join('\n\n');
}

/** Cold starts as bars. */
export function chart({ variants, date }: Results): string {
  const sorted = variants.toSorted((a, b) => a.coldStartMs - b.coldStartMs);
  const longest = Math.max(...sorted.map(({ coldStartMs }) => coldStartMs));
  const bars = sorted.map(({ name, coldStartMs }, row) => {
    const y = 40 + row * 28;
    const width = Math.round((coldStartMs / longest) * 340);
    const fill = name === OURS ? '#2e7d32' : '#9e9e9e';
    return [
      `<text x="240" y="${y + 15}" text-anchor="end">${name}</text>`,
      `<rect x="250" y="${y}" width="${width}" height="20" fill="${fill}"/>`,
      `<text x="${258 + width}" y="${y + 15}">${coldStartMs.toFixed(0)} ms</text>`,
    ].join('\n  ');
  });
  const height = 60 + sorted.length * 28;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="680" height="${height}" font-family="sans-serif" font-size="13">
  <title>Cold start of each handler</title>
  <rect width="680" height="${height}" fill="#ffffff"/>
  <text x="250" y="24" font-weight="bold">Cold start, from spawn to first response (${date})</text>
  ${bars.join('\n  ')}
</svg>
`;
}
