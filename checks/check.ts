import { isDeepStrictEqual } from 'node:util';
import type { Client, ClientRequest, ClientResponse } from './client.ts';

/** Something that the contract promises and that a client can see. */
export interface Check {
  /** The promise, as a sentence. */
  title: string;
  /** True if it takes API Gateway or a second operation: a function alone cannot be checked for it. Default: false. */
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

/** A response with all that is compared: a body with status 200, or an error whose message names these members. */
export type Expected = { status: 200; body: object } | { status: 400; error: number; names?: string[] };

export type Step = [request: ClientRequest, expected: Expected];

export const ok = (body: object): Expected => ({ status: 200, body });
export const error = (number: number, ...names: string[]): Expected => ({ status: 400, error: number, names });

/** A check that sends requests one after the other and compares their responses. */
export function check(title: string, steps: (client: Client) => Step[]): Check {
  return {
    title,
    run: async (client) => {
      for (const step of steps(client)) await expectResponse(client, step);
    },
  };
}

/** A check that one request gets an Error response with this number, whose message names these members. */
export function refused(what: string, request: (client: Client) => ClientRequest, number: number, ...names: string[]) {
  const naming = names.length > 0 ? `, its message names ${names.join(' and ')}` : '';
  return check(`${what} is error ${number}${naming}`, (client) => [[request(client), error(number, ...names)]]);
}

/** Sends a request. Returns the response; throws what was seen if it is not as expected, or shows the token. */
export async function expectResponse(client: Client, [request, expected]: Step): Promise<ClientResponse> {
  const response = await client.send(request);
  const { headers: _, ...rest } = response;
  const shown = JSON.stringify(rest).slice(0, 300);
  const seen = rest.status === 200 ? rest : { status: 400, error: rest.error };
  const { names = [], ...exact } = { names: undefined, ...expected };
  if (!isDeepStrictEqual(seen, exact)) throw new Error(`${shown}; it must be ${JSON.stringify(exact)}`);
  const missing = names.find((name) => !isNamed(response, name));
  if (missing !== undefined) throw new Error(`${shown}; the message must name ${missing}`);
  const [, token = client.token] = request.headers?.['authorization']?.split(' ') ?? [];
  // A shorter token is a word that may also be in a message.
  if (token.length > 32 && JSON.stringify(response).includes(token)) {
    throw new Error('the response contains the token; it must not');
  }
  return response;
}

/** True if an error's message has the name of a member. */
export function isNamed(response: ClientResponse, member: string): boolean {
  return response.status === 400 && new RegExp(`\\b${member}\\b`).test(response.message);
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
        const { 'x-amz-apigw-id': requestId } = (await client.sendOnce({ ...request, headers })).headers;
        if (seen.has(requestId)) throw new Error(`x-amz-apigw-id is ${requestId ?? 'missing'}; it must be a new one`);
        seen.add(requestId);
      }
    },
  };
}
