/** The middle of some figures. */
export function median(figures: number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export interface Comparison {
  /** Made of the two medians, so that it agrees with the medians in a table. */
  value: number;
  /** The 95 % interval: by bootstrap, of 2,000 samples of the rounds. */
  from: number;
  to: number;
}

/** Compares the medians of figures that were measured side by side in rounds, by their ratio or their difference. */
export function compare(figures: number[], others: number[], by: (a: number, b: number) => number): Comparison {
  const rounds = [...figures.keys()];
  const of = (sample: number[]) => {
    const [a, b] = [figures, others].map((all) => median(sample.map((round) => all[round] ?? Number.NaN)));
    return by(a ?? Number.NaN, b ?? Number.NaN);
  };
  const sampled = Array.from({ length: 2000 }, () => of(rounds.map(() => Math.floor(Math.random() * rounds.length))));
  const [from = Number.NaN, to = Number.NaN] = [50, 1949].map((index) => sampled.sort((a, b) => a - b)[index]);
  return { value: of(rounds), from, to };
}
