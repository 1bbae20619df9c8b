/** Dollars for one unit, and for one beyond a quantity where a price has tiers. */
export interface Price {
  page: string;
  unit: string;
  tiers: { from: number; each: number }[];
}

const price = (page: string, unit: string, first: number, ...beyond: [from: number, each: number][]): Price => ({
  page,
  unit,
  tiers: [{ from: 0, each: first }, ...beyond.map(([from, each]) => ({ from, each }))],
});

const API_GATEWAY = 'Amazon API Gateway pricing';
const LAMBDA = 'AWS Lambda pricing';
const DYNAMODB = 'Amazon DynamoDB pricing';
const CLOUDWATCH = 'Amazon CloudWatch pricing';
/** In GB, by which these prices count. */
const TB = 1024;

/** List prices of us-east-1 in USD, without free tiers, each with the title of its page at AWS. */
export const PRICES = {
  restRequests: price(API_GATEWAY, 'million requests to a REST API', 3.5, [333, 2.8], [1000, 2.38], [20_000, 1.51]),
  httpRequests: price(API_GATEWAY, 'million requests to an HTTP API', 1, [300, 0.9]),
  lambdaRequests: price(LAMBDA, 'million requests', 0.2),
  lambdaDuration: price(LAMBDA, 'GB-second (arm64)', 0.0000133334, [7.5e9, 0.0000120001], [18.75e9, 0.0000106667]),
  writes: price(DYNAMODB, 'million write request units', 0.625),
  reads: price(DYNAMODB, 'million read request units', 0.125),
  provisionedWrites: price(DYNAMODB, 'write capacity unit for an hour', 0.00065),
  storage: price(DYNAMODB, 'GB-month stored', 0.25),
  recovery: price(DYNAMODB, 'GB-month of point-in-time recovery', 0.2),
  lambdaLogs: price(CLOUDWATCH, 'GB of Lambda’s logs', 0.5, [10 * TB, 0.25], [30 * TB, 0.1], [50 * TB, 0.05]),
  otherLogs: price(CLOUDWATCH, 'GB of other logs', 0.5),
  keptLogs: price(CLOUDWATCH, 'GB-month of logs, compressed', 0.03),
  customMetrics: price(CLOUDWATCH, 'custom metric', 0.3),
  alarmMetrics: price(CLOUDWATCH, 'metric of a standard alarm', 0.1),
  dashboards: price(CLOUDWATCH, 'dashboard', 3),
  traces: price('AWS X-Ray pricing', 'million traces recorded', 5),
  keys: price('AWS Key Management Service pricing', 'key', 1),
  dataOut: price(
    'Amazon EC2 On-Demand Pricing, Data Transfer',
    'GB out to the internet',
    0.09,
    [10 * TB, 0.085],
    [50 * TB, 0.07],
    [150 * TB, 0.05],
  ),
};

/** What a quantity costs, tier by tier. */
export function dollars({ tiers }: Price, quantity: number): number {
  return sum(
    tiers.map(({ from, each }, at) => {
      const to = Math.min(quantity, tiers[at + 1]?.from ?? quantity);
      return Math.max(0, to - from) * each;
    }),
  );
}

export const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
