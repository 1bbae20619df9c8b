import { BARE, OURS } from './build.ts';
import type { Ratio } from './statistics.ts';

/** What `npm run bench` measured; times are medians. */
export interface Results {
  date: string;
  machine: string;
  node: string;
  rounds: number;
  /** The stack's memory size, by which the CPU share of `coldStartAtShareMs` is set. */
  megabytes: number;
  variants: VariantResult[];
  ratios: Record<string, Ratio>;
  /** Absent where the machine has no CPU shares, with the reason. */
  sizes: SizeResult[] | string;
}

export interface VariantResult {
  name: string;
  coldStartMs: number;
  firstInvocationMs: number;
  coldStartAtShareMs: number | undefined;
  warmCpuUs: number;
  peakMegabytes: number;
  bundleBytes: number;
  zippedBytes: number;
}

export interface SizeResult {
  megabytes: number;
  coldStartMs: number;
  firstInvocationMs: number;
  warmMs: number;
  dollarsPerMillion: number;
}

const kilobytes = (bytes: number) => String(Math.round(bytes / 1000));
const table = (header: string[], rows: string[][]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The results as the README has them. */
export function markdown({ date, machine, node, rounds, megabytes, variants, ratios, sizes }: Results): string {
  const bare = variants.find(({ name }) => name === BARE)?.coldStartMs ?? Number.NaN;
  const rows = variants
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
    ]);
  const header = [
    'handler',
    'cold start, ms (of bare SDK)',
    'first invocation, ms',
    `cold start at ${megabytes} MB, ms`,
    'warm CPU, us',
    'peak memory, MB',
    'bundle, KB',
    'zipped, KB',
  ];
  const ratioRows = Object.entries(ratios).map(([name, { median, from, to }]) => [
    name,
    median.toFixed(2),
    `${from.toFixed(2)} to ${to.toFixed(2)}`,
  ]);
  const sizeRows =
    typeof sizes === 'string'
      ? `CPU shares could not be set on this machine: ${sizes}.`
      : table(
          ['memory, MB', 'cold start, ms', 'first invocation, ms', 'warm, ms', '$ per million requests'],
          sizes.map((size) => [
            String(size.megabytes),
            size.coldStartMs.toFixed(0),
            size.firstInvocationMs.toFixed(1),
            size.warmMs.toFixed(2),
            size.dollarsPerMillion.toFixed(2),
          ]),
        );
  return [
    `Measured on ${date} (${machine}, Node.js ${node}, ${rounds} interleaved rounds, medians):`,
    table(header, rows),
    table(['plant store, divided by', 'ratio', '95 % interval'], ratioRows),
    sizeRows,
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
      `<text x="190" y="${y + 15}" text-anchor="end">${name}</text>`,
      `<rect x="200" y="${y}" width="${width}" height="20" fill="${fill}"/>`,
      `<text x="${208 + width}" y="${y + 15}">${coldStartMs.toFixed(0)} ms</text>`,
    ].join('\n  ');
  });
  const height = 60 + sorted.length * 28;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="${height}" font-family="sans-serif" font-size="13">
  <title>Cold start of each handler</title>
  <rect width="640" height="${height}" fill="#ffffff"/>
  <text x="200" y="24" font-weight="bold">Cold start, from spawn to first response (${date})</text>
  ${bars.join('\n  ')}
</svg>
`;
}
