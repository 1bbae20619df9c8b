/** The middle of some figures. */
export function median(figures: number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export interface Ratio {
  median: number;
  /** A 95 % interval of the median, by order statistics. */
  from: number;
  to: number;
}

/** The ratio of figures that were taken side by side, round by round. */
export function pairedRatio(figures: number[], others: number[]): Ratio {
  const ratios = figures.map((figure, round) => figure / (others[round] ?? Number.NaN)).toSorted((a, b) => a - b);
  const n = ratios.length;
  const reach = 0.98 * Math.sqrt(n);
  const at = (index: number) => ratios[Math.min(n - 1, Math.max(0, Math.round(index)))] ?? Number.NaN;
  return { median: median(ratios), from: at(n / 2 - reach - 0.5), to: at(n / 2 + reach - 0.5) };
}
