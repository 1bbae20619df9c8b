import type { APIGatewayProxyResult } from 'aws-lambda';

/** A 200 with such a body, a schema of the contract. JSON leaves out its members that are undefined. */
export function success(body: object): APIGatewayProxyResult {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
