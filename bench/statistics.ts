/** The middle of some figures. */
export function median(figures: number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export interface Comparison {
  median: number;
  /** A 95 % interval of the median, by order statistics. */
  from: number;
  to: number;
}

/** What a round's two figures make, their ratio say, of figures that were taken side by side. */
export function compare(figures: number[], others: number[], by: (a: number, b: number) => number): Comparison {
  const compared = figures.map((figure, round) => by(figure, others[round] ?? Number.NaN)).toSorted((a, b) => a - b);
  const n = compared.length;
  const reach = 0.98 * Math.sqrt(n);
  const at = (index: number) => compared[Math.min(n - 1, Math.max(0, Math.round(index)))] ?? Number.NaN;
  return { median: median(compared), from: at(n / 2 - reach - 0.5), to: at(n / 2 + reach - 0.5) };
}
