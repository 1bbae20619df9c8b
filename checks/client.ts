import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from './operations.generated.js';

/** A response that the contract allows: status 200 with the operation's body, or status 400 with an Error. */
export type ContractResponse = { status: 200; body: object } | { status: 400; error: number; message: string };

/** The same with its headers, their names in lower case. */
export type ClientResponse = ContractResponse & { headers: Record<string, string> };

export interface ClientRequest {
  /** Default: POST. */
  method?: string;
  /** With its query, if it has one. Default: /plants. */
  path?: string;
  /** Added to the defaults: a valid token and application/json. An empty value leaves a header out. */
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

const MAX_RETRIES = 5;
const MAX_RETRY_AFTER_SECONDS = 10;

/** A request as it is sent. Header names are in lower case. */
export interface SentRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

/** A response as it is received, whether or not the contract allows it. Header names are in lower case. */
export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Sends a request once. Throws if there is no response. */
export type Send = (request: SentRequest) => Promise<RawResponse>;

const LOWEST_ID = 2n ** 63n - 2n ** 52n;
/** Checks use ids in this range, and the same ids with a minus. */
export const CHECK_IDS = `${LOWEST_ID} to ${2n ** 63n - 1n}`;

/** A client of the service with a bearer token. `send` decides how requests are sent: over HTTP, or as Lambda events. */
export class Client {
  readonly token: string;
  readonly #send: Send;

  constructor(token: string, send: Send) {
    this.token = token;
    this.#send = send;
  }

  /**
   * Sends a request. Repeats it up to five times while the response is error 429, after `Retry-After` (at most 10 s).
   * Throws what was received if the contract does not allow it, or if there is no response.
   */
  async send(request: ClientRequest): Promise<ClientResponse> {
    for (let retries = 0; ; retries += 1) {
      const { status, headers, text } = await this.sendOnce(request);
      const response = { ...parseResponse(status, headers['content-type'], text, request), headers };
      if (!isError(response, 429) || retries === MAX_RETRIES) return response;
      // RFC 9110, 10.2.3. The service never sends a date, so a date counts as missing: as one second.
      const seconds = Number(headers['retry-after']) || 1;
      await sleep(Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000);
    }
  }

  /** Sends a request once, without its body if the method is GET or HEAD. Returns any response. */
  async sendOnce({ method = 'POST', path = '/plants', headers = {}, body = '' }: ClientRequest): Promise<RawResponse> {
    const all = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers };
    return this.#send({
      method,
      path,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
      body: ['GET', 'HEAD'].includes(method) ? new Uint8Array() : Uint8Array.from(Buffer.from(body)),
    });
  }

  /**
   * Returns an id for a purpose, for which `Number(id)` equals `Number(id + 1n)`. It follows from the token: no other
   * client can use it first, a broken version cannot change or delete somebody's plant, and a token leaves the same
   * plants however often it is used.
   */
  id(purpose: string): bigint {
    return LOWEST_ID + this.#random42Bits(purpose) * 1024n + 1n;
  }

  /** Returns such an id that is a safe integer, as is a hundred times that id. */
  safeId(purpose: string): bigint {
    return -(2n ** 45n) - this.#random42Bits(purpose);
  }

  #random42Bits(purpose: string): bigint {
    return hash('sha256', `${purpose} ${this.token}`, 'buffer').readBigUInt64BE() >> 22n;
  }
}

export function isError(response: ContractResponse, error: number): boolean {
  return response.status === 400 && response.error === error;
}

/** Parses the response to a request. Throws what was received, in one line, if the contract does not allow it. */
export function parseResponse(
  status: number,
  contentType: string | undefined,
  text: string,
  { method = 'POST', path = '/plants' }: ClientRequest = {},
): ContractResponse {
  // A server's text must neither break the line nor control the terminal.
  const received = `${status}, ${contentType ?? 'no Content-Type'}, ${text.slice(0, 200).replaceAll(/[\p{Cc}\s]+/gu, ' ')}`;
  if (!/^application\/json(;|$)/i.test(contentType ?? ''))
    throw new Error(`${received}; the Content-Type must be application/json`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${received}; the body must be JSON`);
  }
  const operation = operations.find((each) => each.method === method && matches(path, each.path));
  if (status === 200 && operation?.isResponse(body)) return { status, body };
  if (status === 400 && isErrorBody(body)) return { status, ...body };
  throw new Error(`${received}; it must be a 200 or a 400 as openapi.yaml has it, and have no other member`);
}

/** True if a request's path, with or without a query, is one of the contract's, as in `/plants/{id}`. */
export function matches(path: string, pattern: string): boolean {
  // API Gateway ignores a slash at the end.
  return new RegExp(`^${pattern.replaceAll(/\{.+?\}/g, '[^/?]+')}/?(\\?|$)`).test(path);
}

function isErrorBody(body: unknown): body is { error: number; message: string } {
  if (typeof body !== 'object' || body === null || Object.keys(body).length !== 2) return false;
  const { error, message } = body as Record<string, unknown>;
  return Number.isInteger(error) && Math.abs(Number(error)) < 2 ** 31 && typeof message === 'string' && message !== '';
}
