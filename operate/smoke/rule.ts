import { isDeepStrictEqual } from 'node:util';
import type { Answer, Caller, Plant, Request } from '../caller.ts';

/** A rule of the contract that a caller can see. */
export interface Rule {
  rule: string;
  /** Whether it holds only where plants can be created. */
  creates?: boolean;
  /** Whether it is the gateway that keeps it: the function alone cannot be asked. */
  byGateway?: boolean;
  /** Throws what was seen instead where the rule does not hold; Taken where that cannot be seen. */
  check: (caller: Caller) => Promise<void>;
}

/** A UUID, since API Gateway overlooks any other in x-amzn-RequestId ("Access logging for REST APIs"). */
const CHOSEN_ID = '00000000-0000-4000-8000-000000000000';

/** A request that is answered by an Error, whose message tells of these members. */
export const refused = (what: string, request: Request, error: number, ...names: string[]): Rule => ({
  rule: `${what} is error ${error}${names.length > 0 ? `, its message names ${names.join(' and ')}` : ''}`,
  check: async (caller) => {
    const answer = await caller.send(request);
    mustBe(answer, { status: 400, error });
    for (const name of names) {
      if (!namedIn(answer, name)) throw new Error(`${shown(answer)}; the message must name ${name}`);
    }
    mustNotHold(answer, caller.token);
  },
});

export const ownRequestIds = (what: string, requests: Request[]): Rule => ({
  rule: `${what} has a request id of its own (x-amz-apigw-id), which no caller chooses`,
  byGateway: true,
  check: async (caller) => {
    const seen = new Set<string | undefined>([undefined, '', CHOSEN_ID]);
    for (const request of requests) {
      const headers = { 'x-amzn-requestid': CHOSEN_ID, 'x-amz-apigw-id': CHOSEN_ID, ...request.headers };
      const answer = await caller.send({ ...request, headers });
      const requestId = answer.headers['x-amz-apigw-id'];
      if (seen.has(requestId)) {
        throw new Error(`${shown(answer)} has x-amz-apigw-id ${requestId ?? 'missing'}; each answer must have its own`);
      }
      seen.add(requestId);
    }
  },
});

export function mustBe(answer: Answer, expected: { status: 200; plant: Plant } | { status: 400; error: number }): void {
  const { status } = answer;
  const seen = status === 200 ? { status, plant: answer.plant } : { status, error: answer.error };
  if (!isDeepStrictEqual(seen, expected)) {
    throw new Error(`${shown(answer)}; it must be ${JSON.stringify(expected)}`);
  }
}

export function mustNotHold(answer: Answer, token: string): void {
  if (JSON.stringify(answer).includes(token)) throw new Error('the token stands in the answer; it must not');
}

export function shown({ headers: _, ...said }: Answer): string {
  return JSON.stringify(said).slice(0, 300);
}

export function namedIn(answer: Answer, name: string): boolean {
  return answer.status === 400 && new RegExp(`\\b${name}\\b`).test(answer.message);
}
