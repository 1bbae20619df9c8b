import { BARE, OURS, type Variant, WITH_PROVIDER } from './build.ts';
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
  /** The deployed bundle without one of its trimmings each, the bare SDK's and the one with an identity provider: how much later each is, round by round. */
  untrimmed: { name: string; coldStartMs: number; laterMs: Comparison; bundleBytes: number }[];
  /** Absent where the machine has no CPU shares, with the reason. */
  sizes: SizeResult[] | string;
}

export interface VariantResult extends Omit<Variant, 'directory' | 'token' | 'environment'>, Omit<Run, 'warmWallMs'> {
  coldStartAtShareMs: number | undefined;
}

export interface SizeResult extends Pick<Run, 'coldStartMs' | 'firstInvocationMs'> {
  megabytes: number;
  warmMs: number;
}

/** What is compared with the untrimmed ones, as that table calls it. */
const OTHERS: Record<string, string> = {
  [BARE]: 'a bare handler with none of it',
  [WITH_PROVIDER]: 'with an identity provider, and a JWT of it',
};

const kilobytes = (bytes: number) => String(Math.round(bytes / 1000));
const interval = ({ from, to }: Comparison, digits: number) => `${from.toFixed(digits)} to ${to.toFixed(digits)}`;
const table = (header: string[], rows: string[][]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The chart and the tables of docs/performance.md. */
export function markdown(results: Results): string {
  const { date, machine, node, rounds, megabytes, variants, ratios, untrimmed, sizes } = results;
  const fastestFirst = variants.toSorted((a, b) => a.coldStartMs - b.coldStartMs);
  const bare = variants.find(({ name }) => name === BARE)?.coldStartMs ?? Number.NaN;
  return [
    `Measured on ${date} (${machine}, Node.js ${node}, ${rounds} interleaved rounds, medians):`,
    chart(fastestFirst),
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
      fastestFirst.map((variant) => [
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
        OTHERS[name] ?? name,
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

/** Cold starts as bars, in Mermaid's language. */
function chart(variants: VariantResult[]): string {
  return [
    '```mermaid',
    'xychart-beta horizontal',
    '  title "Cold start, ms"',
    `  x-axis ${JSON.stringify(variants.map(({ name }) => name))}`,
    '  y-axis 0 --> 250',
    `  bar ${JSON.stringify(variants.map(({ coldStartMs }) => Math.round(coldStartMs)))}`,
    '```',
  ].join('\n');
}
