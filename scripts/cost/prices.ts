/** Dollars for one unit, and for one beyond a quantity where a price has tiers. */
type Price = [from: number, each: number][];

const price = (each: number, ...beyond: Price): Price => [[0, each], ...beyond];

/** In GB, by which these prices count. */
const TB = 1024;

/** List prices of us-east-1 in USD, without free tiers, under the title of their page at AWS. */
export const PRICES = {
  // "Amazon API Gateway pricing": a million requests.
  restRequests: price(3.5, [333, 2.8], [1000, 2.38], [20_000, 1.51]),
  httpRequests: price(1, [300, 0.9]),
  // "AWS Lambda pricing": a million requests; a GB-second on arm64.
  lambdaRequests: price(0.2),
  lambdaDuration: price(0.0000133334, [7.5e9, 0.0000120001], [18.75e9, 0.0000106667]),
  // "Amazon DynamoDB pricing": a million write request units; a write capacity unit for an hour; a GB for a month,
  // with point-in-time recovery.
  writes: price(0.625),
  provisionedWrites: price(0.00065),
  storageAndRecovery: price(0.25 + 0.2),
  // "Amazon CloudWatch pricing": a GB taken in; one metric or dashboard for a month.
  lambdaLogs: price(0.5, [10 * TB, 0.25], [30 * TB, 0.1], [50 * TB, 0.05]),
  otherLogs: price(0.5),
  customMetrics: price(0.3),
  alarmMetrics: price(0.1),
  dashboards: price(3),
  // "AWS X-Ray pricing": a million traces recorded.
  traces: price(5),
  // "AWS Key Management Service pricing": a key for a month.
  keys: price(1),
  // "Amazon EC2 On-Demand Pricing", "Data Transfer": a GB out to the internet.
  dataOut: price(0.09, [10 * TB, 0.085], [50 * TB, 0.07], [150 * TB, 0.05]),
};

/** What a quantity costs, tier by tier. */
export function dollars(tiers: Price, quantity: number): number {
  return sum(
    tiers.map(([from, each], at) => {
      const to = Math.min(quantity, tiers[at + 1]?.[0] ?? quantity);
      return Math.max(0, to - from) * each;
    }),
  );
}

export const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
