import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { proxyEvent } from '../../functions/pre-traffic-hook/proxy-event.ts';
import { LOCAL_ACCOUNT, type Template } from './template.ts';

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
export function createEvent(
  { message, method, path, query, body, ids }: HttpRequest,
  { apiStage }: Template,
  resource: string,
): APIGatewayProxyEvent {
  const now = new Date();
  const [, day, month, year, time] = now.toUTCString().split(' ');
  const sourceIp = String(message.socket.remoteAddress);
  // In rawHeaders, names and values alternate.
  const received = message.rawHeaders.flatMap((name, index, all): [string, string][] =>
    index % 2 === 0 ? [[name, String(all[index + 1])]] : [],
  );
  const headers: [string, string][] = [
    ...received,
    ['X-Amzn-Trace-Id', `Root=1-${Math.floor(now.getTime() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', String(message.socket.localPort)],
    ['X-Forwarded-Proto', 'http'],
  ];
  // A variable, because TypeScript rejects unknown members, such as `deploymentId`, in a literal.
  const requestContext = {
    accountId: LOCAL_ACCOUNT,
    apiId: 'local',
    authorizer: null,
    deploymentId: 'local',
    domainName: message.headers.host ?? 'localhost',
    domainPrefix: 'local',
    httpMethod: method,
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp,
      user: null,
      userAgent: message.headers['user-agent'] ?? null,
      userArn: null,
    },
    path: `/${apiStage}${path}`,
    protocol: `HTTP/${message.httpVersion}`,
    ...ids,
    requestTime: `${day}/${month}/${year}:${time} +0000`,
    requestTimeEpoch: now.getTime(),
    resourceId: hash('sha256', resource).slice(0, 6),
    resourcePath: resource,
    stage: apiStage,
  };
  return { ...proxyEvent({ resource, method, path, query, headers, body }), requestContext };
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

/**
 * Returns the event files to invoke before an event file, in order. `before.json` in the same folder maps each event's
 * name to the name of the event before it.
 */
export function filesBefore(file: string): string[] {
  const mapFile = join(dirname(file), 'before.json');
  const names: Record<string, string> = existsSync(mapFile) ? JSON.parse(readFileSync(mapFile, 'utf8')) : {};
  const name = names[basename(file, '.json')];
  if (name === undefined) return [];
  const before = join(dirname(file), `${name}.json`);
  return [...filesBefore(before), before];
}
