import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { proxyEvent } from '../../functions/pre-traffic-hook/proxy-event.ts';

/** A request with its complete body. */
export interface HttpRequest {
  message: IncomingMessage;
  method: string;
  /** Without the API stage. */
  path: string;
  query: string;
  body: Buffer;
  /** Sent in the response headers `x-amzn-requestid` and `x-amz-apigw-id`. */
  ids: { requestId: string; extendedRequestId: string };
}

/** Creates the event that API Gateway sends to the function. */
export function createEvent({ message, ids, ...request }: HttpRequest, resource: string): APIGatewayProxyEvent {
  // In rawHeaders, names and values alternate.
  const headers = message.rawHeaders.flatMap((name, index, all): [string, string][] =>
    index % 2 === 0 ? [[name, String(all[index + 1])]] : [],
  );
  return proxyEvent({ ...request, resource, headers }, ids);
}

/** Reads an API Gateway event from a JSON file. Throws if the file is not a REST proxy event. */
export function readEvent(file: string): APIGatewayProxyEvent {
  let event: APIGatewayProxyEvent | null;
  try {
    event = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`The event ${file} cannot be read: ${(error as Error).message}`);
  }
  if (event?.httpMethod && event.resource) return event;
  throw new Error(`The event ${file} must be a REST proxy event, with httpMethod and resource.`);
}
