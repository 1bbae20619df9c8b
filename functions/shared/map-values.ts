/** A record of the same keys, with other values. */
export function mapValues<From, To>(record: Record<string, From>, to: (value: From, key: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
}
