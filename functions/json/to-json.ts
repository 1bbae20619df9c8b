// TypeScript has no type for rawJSON yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Converts a value to JSON. A bigint keeps all its digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? rawJSON(String(inner)) : inner));
}
