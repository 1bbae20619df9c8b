import type { APIGatewayProxyResult } from 'aws-lambda';

// TypeScript's types do not have it yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** A response 200 with a body of the contract's schema, without members that are undefined. A bigint keeps each digit. */
export function success<Body extends object>(body: Body): APIGatewayProxyResult {
  const text = JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value));
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: text };
}

/** Returns an object with these members only. */
export function pick<Whole, Name extends keyof Whole>(whole: Whole, names: Name[]): Pick<Whole, Name> {
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Pick<Whole, Name>;
}
