import { isDeepStrictEqual } from 'node:util';
import type { Client, ClientRequest, ClientResponse, Plant } from './client.ts';

/** Something that the contract promises and that a client can see. */
export interface Check {
  /** The promise, as a sentence. */
  title: string;
  /** True if API Gateway keeps the promise, so that the function alone cannot be checked for it. Default: false. */
  byGateway?: boolean;
  /** Throws what was seen instead. */
  run: (client: Client) => Promise<void>;
}

export interface CheckResult {
  title: string;
  state: 'ok' | 'failed';
  /** What the service did instead, if the check failed. */
  seen?: string;
}

/** A client throws this if checks cannot run, because the database is unavailable. */
export class Unavailable extends Error {}

/** Runs checks one after the other. Throws Unavailable as the client does. */
export async function* runChecks(checks: Check[], client: Client): AsyncGenerator<CheckResult> {
  for (const { title, run } of checks) {
    const failure = await run(client).catch((error: Error) => error);
    if (failure instanceof Unavailable) throw failure;
    yield failure ? { title, state: 'failed', seen: failure.message } : { title, state: 'ok' };
  }
}

/** Checks that a request gets an Error response with this number, whose message names these members. */
export function refused(
  what: string,
  request: ClientRequest | ((client: Client) => ClientRequest),
  error: number,
  ...members: string[]
): Check {
  return {
    title: `${what} is error ${error}${members.length > 0 ? `, its message names ${members.join(' and ')}` : ''}`,
    run: async (client) => {
      const response = await client.send(typeof request === 'function' ? request(client) : request);
      mustBe(response, { status: 400, error });
      for (const member of members) {
        if (!names(response, member)) throw new Error(`${shown(response)}; the message must name ${member}`);
      }
      mustNotContain(response, client.token);
    },
  };
}

/** A UUID: API Gateway ignores any other value of x-amzn-RequestId ("Access logging for REST APIs"). */
const CHOSEN_ID = '00000000-0000-4000-8000-000000000000';

export function ownRequestIds(what: string, requests: (client: Client) => ClientRequest[]): Check {
  return {
    title: `${what} has a request id of its own (x-amz-apigw-id), which no client can choose`,
    byGateway: true,
    run: async (client) => {
      const seen = new Set<string | undefined>([undefined, '', CHOSEN_ID]);
      for (const request of requests(client)) {
        const headers = { 'x-amzn-requestid': CHOSEN_ID, 'x-amz-apigw-id': CHOSEN_ID, ...request.headers };
        const response = await client.send({ ...request, headers });
        const requestId = response.headers['x-amz-apigw-id'];
        if (seen.has(requestId)) {
          const value = requestId ?? 'missing';
          throw new Error(`${shown(response)} has x-amz-apigw-id ${value}; each response must have its own`);
        }
        seen.add(requestId);
      }
    },
  };
}

/** Throws if a response differs from `expected`. Its message and headers are not compared. */
export function mustBe(
  response: ClientResponse,
  expected: { status: 200; plant: Plant } | { status: 400; error: number },
): void {
  const { status } = response;
  const seen = status === 200 ? { status, plant: response.plant } : { status, error: response.error };
  if (!isDeepStrictEqual(seen, expected)) {
    throw new Error(`${shown(response)}; it must be ${JSON.stringify(expected)}`);
  }
}

export function mustNotContain(response: ClientResponse, token: string): void {
  if (JSON.stringify(response).includes(token)) throw new Error('the response contains the token; it must not');
}

export function shown({ headers: _, ...response }: ClientResponse): string {
  return JSON.stringify(response).slice(0, 300);
}

export function names(response: ClientResponse, member: string): boolean {
  return response.status === 400 && new RegExp(`\\b${member}\\b`).test(response.message);
}
