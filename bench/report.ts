import { OURS, type Variant } from './build.ts';
import type { Run } from './measure.ts';
import type { Comparison } from './statistics.ts';

type Start = Pick<Run, 'coldStartMs' | 'firstInvocationMs'>;

/** What `npm run bench` measured; times are medians. */
export interface Results {
  date: string;
  machine: string;
  node: string;
  rounds: number;
  /** The deployed memory size. */
  megabytes: number;
  variants: VariantResult[];
  /** Of the deployed bundle's figures to another's. */
  ratios: Record<string, Comparison>;
  /** The function in other bundles: how much later a cold start is, round by round. */
  otherwise: {
    name: string;
    laterMs: Comparison;
    laterAtShareMs: Comparison | undefined;
    bundleBytes: number;
  }[];
  /** By memory size, with the CPU share that Lambda gives. The reason, if the machine has no CPU shares. */
  sizes: { megabytes: number; variants: ({ name: string } & Start)[]; warmMs: number }[] | string;
  /** Time and memory for the largest bodies, at the deployed memory size. */
  bodies: { name: string; firstInvocationMs: number; peakMegabytes: number }[];
}

interface VariantResult
  extends Start,
    Pick<Run, 'warmCpuUs' | 'peakMegabytes'>,
    Pick<Variant, 'name' | 'bundleBytes' | 'zippedBytes'> {}

const kilobytes = (bytes: number) => String(Math.round(bytes / 1000));
const interval = ({ from, to }: Comparison, digits: number) => `${from.toFixed(digits)} to ${to.toFixed(digits)}`;
const table = (header: string[], rows: string[][]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The chart and the tables of docs/performance.md. */
export function markdown(results: Results): string {
  const { date, machine, node, rounds, megabytes, variants, ratios, otherwise, sizes, bodies } = results;
  const fastestFirst = variants.toSorted((a, b) => a.coldStartMs - b.coldStartMs);
  const later = (ms?: Comparison) => (ms ? `${ms.value.toFixed(1)} (${interval(ms, 1)})` : '-');
  return [
    `Measured on ${date} (${machine}, Node.js ${node}, ${rounds} interleaved rounds, medians):`,
    chart(fastestFirst),
    table(
      [
        'handler',
        'cold start, ms',
        'first invocation, ms',
        'warm CPU, us',
        'peak memory, MB',
        'bundle, KB',
        'zipped, KB',
      ],
      fastestFirst.map((variant) => [
        variant.name === OURS ? `**${OURS}**` : variant.name,
        variant.coldStartMs.toFixed(0),
        variant.firstInvocationMs.toFixed(1),
        variant.warmCpuUs.toFixed(0),
        variant.peakMegabytes.toFixed(0),
        kilobytes(variant.bundleBytes),
        kilobytes(variant.zippedBytes),
      ]),
    ),
    table(
      [`${OURS}, divided by`, 'ratio', '95 % interval'],
      Object.entries(ratios).map(([name, ratio]) => [name, ratio.value.toFixed(2), interval(ratio, 2)]),
    ),
    table(
      [OURS, 'cold start later by, ms (95 %)', `at ${megabytes} MB, ms (95 %)`, 'bundle, KB'],
      otherwise.map(({ name, laterMs, laterAtShareMs, bundleBytes }) => [
        name,
        later(laterMs),
        later(laterAtShareMs),
        kilobytes(bundleBytes),
      ]),
    ),
    ...(typeof sizes === 'string'
      ? [`CPU shares could not be set on this machine: ${sizes}.`]
      : [
          table(
            ['init + first invocation, ms', ...(sizes[0]?.variants.map(({ name }) => name) ?? []), `${OURS}, warm`],
            sizes.map((size) => [
              `${size.megabytes} MB`,
              ...size.variants.map(
                ({ coldStartMs, firstInvocationMs: first }) =>
                  `${(coldStartMs - first).toFixed(0)} + ${first.toFixed(0)}`,
              ),
              size.warmMs.toFixed(1),
            ]),
          ),
          table(
            [`body, at ${megabytes} MB`, 'first invocation, ms', 'peak memory, MB'],
            bodies.map(({ name, firstInvocationMs, peakMegabytes }) => [
              name,
              firstInvocationMs.toFixed(0),
              peakMegabytes.toFixed(0),
            ]),
          ),
        ]),
  ].join('\n\n');
}

/** Cold starts as bars, in Mermaid's language. */
function chart(variants: VariantResult[]): string {
  return [
    '```mermaid',
    'xychart-beta horizontal',
    '  title "Cold start, ms"',
    `  x-axis ${JSON.stringify(variants.map(({ name }) => name))}`,
    `  y-axis 0 --> ${Math.ceil(Math.max(...variants.map(({ coldStartMs }) => coldStartMs)) / 50) * 50}`,
    `  bar ${JSON.stringify(variants.map(({ coldStartMs }) => Math.round(coldStartMs)))}`,
    '```',
  ].join('\n');
}
