import type { APIGatewayProxyResult } from 'aws-lambda';
import { toJson } from '../json/to-json.ts';

/** A 200 response with a JSON body. Undefined members are omitted; a bigint keeps all its digits. */
export function successResponse(body: object): APIGatewayProxyResult {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: toJson(body) };
}
