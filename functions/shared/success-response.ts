import type { APIGatewayProxyResult } from 'aws-lambda';

// TypeScript has no type for rawJSON yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** A 200 response with a JSON body. Undefined members are omitted; a bigint keeps all its digits. */
export function successResponse<Body extends object>(body: Body): APIGatewayProxyResult {
  const text = JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value));
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: text };
}

/** Returns a copy of an object with only these members. */
export function pick<From, Name extends keyof From>(object: From, names: Name[]): Pick<From, Name> {
  return Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<From, Name>;
}
