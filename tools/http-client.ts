import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientResponse, isError, type SentRequest } from '../functions/pre-traffic-hook/client.ts';
import type { RawResponse } from '../functions/pre-traffic-hook/proxy-event.ts';
import { checked, UsageError } from './command.ts';

const TIMEOUT_MS = 30_000;
/** Time between two attempts to get access. */
const POLL_MS = 5000;

/** A client of the service at a base URL. */
export class HttpClient extends Client {
  /** Without a slash at the end. */
  readonly baseUrl: string;

  /**
   * Throws a UsageError if there is no token, or the base URL is not valid.
   *
   * @param token Default: the environment variable PLANT_STORE_TOKEN. Other users of the machine can see an argument.
   */
  constructor(baseUrl = '', token = process.env['PLANT_STORE_TOKEN']) {
    if (!token) throw new UsageError('There is no token; set --token or the environment variable PLANT_STORE_TOKEN.');
    const base = checked('BASE_URL', baseUrl, /^https?:\/\/[^/]/i, 'an http or https URL').replace(/\/+$/, '');
    super(token, (request) => sendOverHttp(base, request));
    this.baseUrl = base;
  }

  /**
   * Throws if the service is not at the base URL or rejects the token. Repeats the request for up to `waitSeconds`,
   * because a new domain name can take minutes to work everywhere.
   */
  async checkAccess(waitSeconds = 0): Promise<void> {
    const deadline = Date.now() + waitSeconds * 1000;
    for (;;) {
      const response = await this.send({ body: '{}' }).catch((error: Error) => error);
      // Waiting does not make a token valid.
      if (!(response instanceof Error) && isError(response, 401)) {
        throw new Error(`The token is not valid at ${this.baseUrl}.`);
      }
      const problem = this.#accessProblem(response);
      if (problem === undefined) return;
      if (Date.now() >= deadline) throw new Error(problem);
      await sleep(POLL_MS);
    }
  }

  #accessProblem(response: ClientResponse | Error): string | undefined {
    if (response instanceof Error) {
      const { name, message, cause } = response;
      // The message is only "fetch failed"; the cause has the reason.
      if (name === 'TypeError') return `${this.baseUrl} does not respond: ${String(cause ?? message)}.`;
      if (name === 'TimeoutError') return `${this.baseUrl} does not respond within ${TIMEOUT_MS / 1000} s.`;
      return `${this.baseUrl} is not this service: the response was ${message}.`;
    }
    if (!isError(response, 404)) return undefined;
    return `There is no POST /plants at ${this.baseUrl}; BASE_URL must be the URL without /plants.`;
  }
}

async function sendOverHttp(baseUrl: string, { method, path, headers, body }: SentRequest): Promise<RawResponse> {
  const response = await fetch(baseUrl + path, {
    method,
    headers,
    body: body.length > 0 ? body : null,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}
