import type { APIGatewayProxyResult } from 'aws-lambda';

// TypeScript's own types do not know it yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** A 200 with such a body, a schema of the contract: members that are undefined are left out, a bigint keeps each digit. */
export function success(body: object): APIGatewayProxyResult {
  const text = JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value));
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: text };
}
