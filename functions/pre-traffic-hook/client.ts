import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from './operations.generated.js';
import { matchPath, type RawResponse } from './proxy-event.ts';

/** A response that the contract allows: status 200 with the operation's body, or status 400 with an Error. */
type ContractResponse = { status: 200; body: object } | { status: 400; error: number; message: string };

/** A response that the contract allows, with its headers. Header names are in lower case. */
export type ClientResponse = ContractResponse & { headers: Record<string, string> };

export interface ClientRequest {
  /** @default POST */
  method?: string;
  /** Path and query. @default /plants */
  path?: string;
  /** Names are in lower case. Default: a valid token and `application/json`. An empty value removes a header. */
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

const MAX_RETRIES = 5;
const MAX_RETRY_AFTER_SECONDS = 10;

/** A complete request. Header names are in lower case. */
export interface SentRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

/** Sends a request once. Throws if there is no response. */
export type Send = (request: SentRequest) => Promise<RawResponse>;

const LOWEST_ID = 2n ** 63n - 2n ** 52n;
/** The ids of the plants that the checks create are in this range, positive or negative. */
export const CHECK_IDS = `${LOWEST_ID} to ${2n ** 63n - 1n}`;

/** A client of the service with a bearer token. `send` sends the requests, over HTTP or as Lambda events. */
export class Client {
  readonly token: string;
  readonly #send: Send;

  constructor(token: string, send: Send) {
    this.token = token;
    this.#send = send;
  }

  /**
   * Sends a request. Repeats it up to five times if the response is error 429, after `Retry-After` (at most 10 s). Throws
   * if there is no response, or one that the contract does not allow.
   */
  async send(request: ClientRequest): Promise<ClientResponse> {
    for (let retries = 0; ; retries += 1) {
      const { status, headers, text } = await this.sendOnce(request);
      const response = { ...parseResponse(status, headers['content-type'], text, request), headers };
      if (!isError(response, 429) || retries === MAX_RETRIES) return response;
      // RFC 9110, 10.2.3. Anything else than a number counts as one second.
      const seconds = Number(headers['retry-after']) || 1;
      await sleep(Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000);
    }
  }

  /** Sends a request once, and returns any response. A GET request is sent without its body. */
  async sendOnce({ method = 'POST', path = '/plants', headers = {}, body = '' }: ClientRequest): Promise<RawResponse> {
    const all = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers };
    return this.#send({
      method,
      path,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
      body: method === 'GET' ? new Uint8Array() : Buffer.from(body),
    });
  }

  /**
   * Returns a plant id beyond 2^53: `Number(id)` equals `Number(id + 1n)`. The id is a hash of the purpose and the token,
   * so it is not in use by other clients, a broken version cannot damage their plants, and each run with the same token
   * leaves the same plants.
   */
  id(purpose: string): bigint {
    // Doubles near 2^63 are 1,024 apart. The hash chooses one of these steps.
    return LOWEST_ID + this.#hash42Bits(purpose) * 1024n + 1n;
  }

  /** Returns a negative id, made in the same way. Also a safe integer if multiplied by 100. */
  safeIntegerId(purpose: string): bigint {
    return -(2n ** 45n) - this.#hash42Bits(purpose);
  }

  #hash42Bits(purpose: string): bigint {
    return hash('sha256', `${purpose} ${this.token}`, 'buffer').readBigUInt64BE() >> 22n;
  }
}

export function isError(response: ContractResponse, error: number): boolean {
  return response.status === 400 && response.error === error;
}

/** Parses the response to a request. If the contract does not allow it, throws an error with the response in one line. */
export function parseResponse(
  status: number,
  contentType: string | undefined,
  text: string,
  { method = 'POST', path = '/plants' }: ClientRequest = {},
): ContractResponse {
  // Without control characters, which could break the line or control the terminal.
  const received = `${status}, ${contentType ?? 'no Content-Type'}, ${text.slice(0, 200).replaceAll(/[\p{Cc}\s]+/gu, ' ')}`;
  if (!/^application\/json(;|$)/i.test(contentType ?? ''))
    throw new Error(`${received}; the Content-Type must be application/json`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${received}; the body must be JSON`);
  }
  const [resourcePath = ''] = path.split('?');
  const operation = operations.find((each) => each.method === method && matchPath(resourcePath, each.path));
  if (status === 200 && operation?.isResponse(body)) return { status, body };
  if (status === 400 && isErrorBody(body)) return { status, ...body };
  throw new Error(`${received}; it must be a 200 or a 400 with exactly the members that openapi.yaml defines`);
}

function isErrorBody(body: unknown): body is { error: number; message: string } {
  if (typeof body !== 'object' || body === null || Object.keys(body).length !== 2) return false;
  const { error, message } = body as Record<string, unknown>;
  return Number.isInteger(error) && Math.abs(Number(error)) < 2 ** 31 && typeof message === 'string' && message !== '';
}
