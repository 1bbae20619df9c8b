import { setTimeout as sleep } from 'node:timers/promises';
import { WrongArguments } from './command.ts';

export interface Plant {
  name: string;
  tag?: string;
}

/** What the contract lets an answer say: a Plant under 200, an Error under 400. */
export type InContract = { status: 200; plant: Plant } | { status: 400; error: number; message: string };

/** An answer in the contract; the names of its headers in lower case. */
export type Answer = InContract & { headers: Record<string, string> };

export interface Request {
  method?: string;
  path?: string;
  /** Put over the defaults: a valid token and application/json. An empty one leaves a header out. */
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

const SILENCE_MS = 30_000;
const MAX_THROTTLED = 5;
/** The wait after a 429 that names none, and the longest that one may name. */
const THROTTLED_MS = 1000;
const MAX_RETRY_AFTER_MS = 10_000;

/** A request with all that is sent, and what is answered, in the contract or not. Names of headers in lower case. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}
interface Answered {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Sends a request once. Throws where no answer comes. */
type Deliver = (sent: Sent) => Promise<Answered>;

/** Who calls the service with a token, over HTTP or otherwise. */
export class Caller {
  readonly token: string;
  readonly #deliver: Deliver;

  constructor(token: string, deliver: Deliver) {
    this.token = token;
    this.#deliver = deliver;
  }

  /**
   * Sends a request, by default a POST to `/plants`, and again where it is throttled, after the time that
   * `Retry-After` names, at most 10 s. Throws what was seen where the answer has not the contract's shape, or
   * where none comes.
   */
  async send(request: Request): Promise<Answer> {
    for (let throttled = 0; ; throttled += 1) {
      const { status, headers, text } = await this.exchange(request);
      const answer = { ...inContract(status, headers['content-type'], text), headers };
      if (!isError(answer, 429) || throttled === MAX_THROTTLED) return answer;
      await sleep(waitMs(headers['retry-after']));
    }
  }

  /** Sends a request once, without its body where the method is GET or HEAD. Returns whatever is answered. */
  async exchange({ method = 'POST', path = '/plants', headers = {}, body = '' }: Request): Promise<Answered> {
    const all = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers };
    return this.#deliver({
      method,
      path,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
      body: ['GET', 'HEAD'].includes(method) ? new Uint8Array() : Uint8Array.from(Buffer.from(body)),
    });
  }
}

/** Who calls the service at a base URL. */
export class HttpCaller extends Caller {
  readonly baseUrl: string;

  /**
   * The token may stand in PLANT_STORE_TOKEN instead, where others cannot read it. Throws a sentence where there
   * is none, or the base URL cannot be one.
   */
  constructor(baseUrl = '', token = process.env['PLANT_STORE_TOKEN']) {
    if (!token) throw new WrongArguments('There is no token, neither after --token nor in PLANT_STORE_TOKEN.');
    const checked = checkedBaseUrl(baseUrl);
    super(token, (sent) => deliverTo(checked, sent));
    this.baseUrl = checked;
  }

  /** Throws a sentence where nobody answers, there is no service, or the token is not valid. */
  async checkAccess(): Promise<void> {
    const answer = await this.send({ body: '{}' }).catch((error: Error) => {
      // fetch says only that it failed; why stands in the cause. An answer outside the contract is the rules' to judge.
      if (error.name === 'TypeError') throw new Error(`${this.baseUrl} does not answer: ${String(error.cause)}.`);
      if (error.name === 'TimeoutError') throw new Error(`${this.baseUrl} does not answer in 30 s.`);
    });
    if (!answer) return;
    if (isError(answer, 401)) throw new Error(`The token is not valid at ${this.baseUrl}.`);
    if (isError(answer, 404)) {
      throw new Error(`There is no POST /plants at ${this.baseUrl}; BASE_URL must be the address before /plants.`);
    }
  }
}

async function deliverTo(baseUrl: string, { method, path, headers, body }: Sent): Promise<Answered> {
  const response = await fetch(baseUrl + path, {
    method,
    headers,
    // As a Blob without a type: for a string, fetch adds a content type of its own.
    body: body.length > 0 ? new Blob([body]) : null,
    redirect: 'manual',
    signal: AbortSignal.timeout(SILENCE_MS),
  });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** The base URL without slashes at its end. Throws a sentence where no request could reach the service by it. */
function checkedBaseUrl(given: string): string {
  const url = URL.parse(given);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new WrongArguments(`BASE_URL was "${given}"; it must be an http or https address.`);
  }
  const base = url.origin + url.pathname.replace(/\/+$/, '').replace(/\/+plants$/, '');
  if (url.href.replace(/\/+$/, '') === base) return base;
  if (url.password) url.password = '***';
  throw new WrongArguments(
    `BASE_URL was "${url}"; it must be the address before /plants, without user, password, query or fragment: ${base}`,
  );
}

/** Whether an answer is the Error of this number. */
export function isError(answer: Answer, error: number): boolean {
  return answer.status === 400 && answer.error === error;
}

/** RFC 9110, 10.2.3; a date, which this service never names, counts as nothing. */
function waitMs(retryAfter: string | undefined): number {
  if (!/^\d+$/.test(retryAfter ?? '')) return THROTTLED_MS;
  return Math.min(Number(retryAfter) * 1000, MAX_RETRY_AFTER_MS);
}

/** Throws what was seen, in one line, where an answer has not the contract's shape. */
export function inContract(status: number, contentType: string | undefined, text: string): InContract {
  // What a server sends must neither break the line nor steer the terminal.
  const seen = `${status}, ${contentType ?? 'no Content-Type'}, ${text.slice(0, 200).replaceAll(/[\p{Cc}\s]+/gu, ' ')}`;
  if (!/^application\/json(;|$)/i.test(contentType ?? ''))
    throw new Error(`${seen}; the Content-Type must be application/json`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${seen}; the body must be JSON`);
  }
  if (status === 200 && isPlant(body)) return { status, plant: body };
  if (status === 400 && isErrorBody(body)) return { status, ...body };
  throw new Error(
    `${seen}; it must be 200 with a Plant (name, tag) or 400 with an Error (error, message), and no more`,
  );
}

function isPlant(body: unknown): body is Plant {
  if (!hasOnly(body, ['name', 'tag']) || typeof body['name'] !== 'string') return false;
  return !('tag' in body) || typeof body['tag'] === 'string';
}

function isErrorBody(body: unknown): body is { error: number; message: string } {
  if (!hasOnly(body, ['error', 'message'])) return false;
  const { error, message } = body;
  return Number.isInteger(error) && Math.abs(Number(error)) < 2 ** 31 && typeof message === 'string' && message !== '';
}

function hasOnly(body: unknown, members: string[]): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && Object.keys(body).every((member) => members.includes(member));
}
