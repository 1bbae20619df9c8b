import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Check, Expected } from '../shared/checks.ts';
import type { RawResponse } from './proxy-event.ts';

/** A complete request. */
interface SentRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

/** Sends a request once, over HTTP or as an event. Throws if there is no response, or if the signal aborts. */
export type Send = (request: SentRequest, signal: AbortSignal) => Promise<RawResponse>;

interface CheckResult {
  title: string;
  /** Describes the failure, without text of the response. Undefined if the check passed. */
  problem?: string;
  /** The body of the response. */
  text?: string;
}

/** Maximum milliseconds until a response: 6 s for the database, and the init of a new environment. */
const RESPONSE_WITHIN_MS = 8000;
/** Errors of a correct version, for example while the database restarts. */
const REPEATED_ERRORS = [429, 503, 504];
const MAX_REPEATS = 3;
const WAIT_MS = 2000;

/** Runs checks one after the other. Without an expired token, leaves out the check that needs one. */
export async function* runChecks(
  checks: Check[],
  send: Send,
  tokens: { valid: string; expired?: string },
): AsyncGenerator<CheckResult> {
  const id = idOf(tokens.valid);
  for (const { title, request, expected, expired } of checks) {
    const token = expired ? tokens.expired : tokens.valid;
    if (token === undefined) continue;
    const { method, path, headers, body = '' } = request(id, token);
    const all = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers };
    const sent = { method, path, headers: withoutEmpty(all), body: Buffer.from(body) };
    try {
      const response = await sendAndRepeat(send, sent);
      const problems = [expected].flat().map((each) => problemOf(response, each, token));
      const [problem] = problems;
      yield problem === undefined || problems.includes(undefined) ? { title } : { title, problem, text: response.text };
    } catch (error) {
      yield { title, problem: (error as Error).message };
    }
  }
}

/** Sends a request. Repeats it up to three times while the response is error 429, 503 or 504. */
async function sendAndRepeat(send: Send, request: SentRequest): Promise<RawResponse> {
  for (let repeats = 0; ; repeats += 1) {
    const signal = AbortSignal.timeout(RESPONSE_WITHIN_MS);
    const response = await send(request, signal).catch((error: Error) => {
      throw signal.aborted ? new Error(`there was no response within ${RESPONSE_WITHIN_MS / 1000} s`) : error;
    });
    if (repeats === MAX_REPEATS || !REPEATED_ERRORS.includes(parseBody(response.text)['error'] as number)) {
      return response;
    }
    await sleep(WAIT_MS);
  }
}

/** Returns what is wrong with a response, without any of its text, which may contain a secret. */
function problemOf({ status, headers, text }: RawResponse, expected: Expected, token: string): string | undefined {
  const body = parseBody(text);
  const error = Number.isInteger(body['error']) ? ` with error ${body['error']}` : '';
  const actual = `the response was a ${status}${error}`;
  if (`${text}${Object.values(headers)}`.includes(token)) return 'the response contains the token';
  if (!/^application\/json(;|$)/i.test(headers['content-type'] ?? '')) {
    return `${actual} with another Content-Type; it must be application/json`;
  }
  if ('error' in expected) {
    const isError = status === 400 && body['error'] === expected.error && typeof body['message'] === 'string';
    if (!isError || Object.keys(body).length !== 2) return `${actual}; it must be a 400 with error ${expected.error}`;
  } else if (status !== 200 || (expected.body && !isDeepStrictEqual(body, expected.body))) {
    return `${actual}; it must be a 200${expected.body ? ` with exactly ${JSON.stringify(expected.body)}` : ''}`;
  }
  const wrong = Object.entries(expected.headers ?? {}).find(([name, pattern]) => {
    // API Gateway renames some headers of a function ("Amazon API Gateway important notes").
    return !pattern.test(headers[name] ?? headers[`x-amzn-remapped-${name}`] ?? '');
  });
  return wrong && `${actual}; its header ${wrong[0]} must match ${wrong[1]}`;
}

/** Parses JSON. Returns an empty object for null, and for text that is not JSON. */
function parseBody(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function withoutEmpty(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}

/**
 * Returns the id of a run: a hash of the token, from 2^63 - 2^52 + 1 to 2^63 - 1023. A broken version cannot damage the plants
 * of clients with it. Doubles of this size are 1,024 apart, so a version that rounds ids confuses those of a run.
 */
function idOf(token: string): bigint {
  const hash42Bits = hash('sha256', token, 'buffer').readBigUInt64BE() >> 22n;
  return 2n ** 63n - 2n ** 52n + hash42Bits * 1024n + 1n;
}
