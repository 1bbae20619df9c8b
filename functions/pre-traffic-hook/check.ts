import { isDeepStrictEqual } from 'node:util';
import type { Client, ClientRequest, ClientResponse } from './client.ts';

/** A check that the service keeps its contract, as far as a client can see. */
export interface Check {
  /** The expected behaviour, as a sentence. */
  title: string;
  /** True if the check needs API Gateway or a second operation, so that a function alone cannot pass it. @default false */
  needsGateway?: boolean;
  /** Throws an error with the actual and the expected behaviour if the check fails. */
  run: (client: Client) => Promise<void>;
}

export interface CheckResult {
  title: string;
  /** The actual and the expected behaviour. Undefined if the check passed. */
  problem?: string;
}

/** Runs checks one after the other. */
export async function* runChecks(checks: Check[], client: Client): AsyncGenerator<CheckResult> {
  for (const { title, run } of checks) {
    const failure = await run(client).catch((error: Error) => error);
    yield failure ? { title, problem: failure.message } : { title };
  }
}

/** The expected response: status 200 with this body, or this error with a message that contains these member names. */
type Expected = { status: 200; body: object } | { status: 400; error: number; names?: string[] };

export type Step = [request: ClientRequest, expected: Expected];
/** Makes a request for a client. It may contain ids of `client.id`. */
type MakeRequest = (client: Client) => ClientRequest;

export const ok = (body: object): Expected => ({ status: 200, body });
export const error = (number: number, ...names: string[]): Expected => ({ status: 400, error: number, names });

/** Returns a check that sends requests one after the other and compares their responses. */
export function check(title: string, steps: (client: Client) => Step[]): Check {
  return {
    title,
    run: async (client) => {
      for (const step of steps(client)) await runStep(client, step);
    },
  };
}

/** Returns a check that a request gets this error, with a message that contains these member names. */
export function errorCheck(subject: string, request: MakeRequest, number: number, ...names: string[]): Check {
  const withNames = names.length > 0 ? ` with ${names.join(' and ')} in the message` : '';
  return check(`${subject} gets error ${number}${withNames}`, (client) => [[request(client), error(number, ...names)]]);
}

/** Sends the request of a step and returns the response. Throws if it is not as expected, or contains the token. */
export async function runStep(client: Client, [request, expected]: Step): Promise<ClientResponse> {
  const response = await client.send(request);
  const { headers: _, ...withoutHeaders } = response;
  const actual = JSON.stringify(withoutHeaders).slice(0, 300);
  const compared = response.status === 200 ? withoutHeaders : { status: 400, error: response.error };
  const { names = [], ...exact }: Expected & { names?: string[] } = expected;
  if (!isDeepStrictEqual(compared, exact)) throw new Error(`${actual}; it must be ${JSON.stringify(exact)}`);
  const missing = names.find((name) => !mentions(response, name));
  if (missing !== undefined) throw new Error(`${actual}; the message must contain the name ${missing}`);
  const [, token = client.token] = request.headers?.['authorization']?.split(' ') ?? [];
  // A shorter text, such as a malformed token, may be a word of the message.
  if (token.length > 32 && JSON.stringify(response).includes(token)) {
    throw new Error('the response contains the token; it must not');
  }
  return response;
}

/** True for an error response with a message that contains the name of a member. */
export function mentions(response: ClientResponse, name: string): boolean {
  return response.status === 400 && new RegExp(`\\b${name}\\b`).test(response.message);
}

/** A UUID, because API Gateway ignores any other value of x-amzn-RequestId ("Access logging for REST APIs"). */
const CHOSEN_ID = '00000000-0000-4000-8000-000000000000';

/** Returns a check that the responses to these requests have different request ids, which the client cannot choose. */
export function requestIdCheck(subject: string, requests: (client: Client) => ClientRequest[]): Check {
  return {
    title: `${subject} has a new request id (x-amz-apigw-id), which the client cannot choose`,
    needsGateway: true,
    run: async (client) => {
      const invalidIds = new Set<string | undefined>([undefined, '', CHOSEN_ID]);
      for (const request of requests(client)) {
        const headers = { 'x-amzn-requestid': CHOSEN_ID, 'x-amz-apigw-id': CHOSEN_ID, ...request.headers };
        const { 'x-amz-apigw-id': id } = (await client.sendOnce({ ...request, headers })).headers;
        if (invalidIds.has(id)) throw new Error(`x-amz-apigw-id is ${id ?? 'missing'}; it must be a new id`);
        invalidIds.add(id);
      }
    },
  };
}
