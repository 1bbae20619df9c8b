import { setTimeout as sleep } from 'node:timers/promises';

export interface Plant {
  name: string;
  tag?: string;
}

/** A response that the contract allows: a Plant with status 200, or an Error with status 400. */
export type ContractResponse = { status: 200; plant: Plant } | { status: 400; error: number; message: string };

/** The same with its headers, their names in lower case. */
export type ClientResponse = ContractResponse & { headers: Record<string, string> };

export interface ClientRequest {
  /** Default: POST. */
  method?: string;
  /** Default: /plants. */
  path?: string;
  /** Added to the defaults: a valid token and application/json. An empty value leaves a header out. */
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

const MAX_RETRIES = 5;
/** The wait after a 429 without `Retry-After`, and the longest wait that `Retry-After` can ask for. */
const THROTTLED_MS = 1000;
const MAX_RETRY_AFTER_MS = 10_000;

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
type Send = (request: SentRequest) => Promise<RawResponse>;

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
      const response = { ...parseResponse(status, headers['content-type'], text), headers };
      if (!isError(response, 429) || retries === MAX_RETRIES) return response;
      await sleep(waitMs(headers['retry-after']));
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
}

export function isError(response: ContractResponse, error: number): boolean {
  return response.status === 400 && response.error === error;
}

/** RFC 9110, 10.2.3. The service never sends a date, so a date counts as missing. */
function waitMs(retryAfter: string | undefined): number {
  if (!/^\d+$/.test(retryAfter ?? '')) return THROTTLED_MS;
  return Math.min(Number(retryAfter) * 1000, MAX_RETRY_AFTER_MS);
}

/** Throws what was received, in one line, if the contract does not allow it. */
export function parseResponse(status: number, contentType: string | undefined, text: string): ContractResponse {
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
  if (status === 200 && isPlant(body)) return { status, plant: body };
  if (status === 400 && isErrorBody(body)) return { status, ...body };
  throw new Error(
    `${received}; it must be 200 with a Plant (name, tag) or 400 with an Error (error, message), and no more`,
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
