import type { APIGatewayProxyResult } from 'aws-lambda';

// TypeScript has no type for rawJSON yet (ECMAScript proposal "JSON.parse source text access").
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** A 200 response with a JSON body. Undefined members are omitted; a bigint keeps all its digits. */
export function successResponse<Body extends object>(body: Body): APIGatewayProxyResult {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: toJson(body) };
}

/** Converts a value to JSON. A bigint keeps all its digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? rawJSON(String(inner)) : inner));
}
