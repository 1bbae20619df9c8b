import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientResponse, isError, type RawResponse, type SentRequest } from '../checks/client.ts';
import { checked, WrongArguments } from './command.ts';

const TIMEOUT_MS = 30_000;
/** Between two attempts to reach the service for the first time. */
const POLL_MS = 5000;

/** A client of the service at a base URL. */
export class HttpClient extends Client {
  /** Without slashes at its end. */
  readonly baseUrl: string;

  /**
   * The token's default is the variable PLANT_STORE_TOKEN, which other users of the machine cannot read. Throws a
   * sentence if there is no token, or the base URL is not valid.
   */
  constructor(baseUrl = '', token = process.env['PLANT_STORE_TOKEN']) {
    if (!token) throw new WrongArguments('There is no token: use --token or the variable PLANT_STORE_TOKEN.');
    const base = checked('BASE_URL', baseUrl, /^https?:\/\/[^/]/i, 'an http or https address').replace(/\/+$/, '');
    super(token, (request) => sendOverHttp(base, request));
    this.baseUrl = base;
  }

  /**
   * Checks that the service is at the base URL and accepts the token. Throws a sentence if not. A new domain name can
   * take minutes to work everywhere: repeats the check for `waitSeconds`.
   */
  async checkAccess(waitSeconds = 0): Promise<void> {
    const deadline = Date.now() + waitSeconds * 1000;
    for (;;) {
      const response = await this.send({ body: '{}' }).catch((error: Error) => error);
      // It will not be valid a minute later.
      if (!(response instanceof Error) && isError(response, 401)) {
        throw new Error(`The token is not valid at ${this.baseUrl}.`);
      }
      const problem = this.#problemOf(response);
      if (problem === undefined) return;
      if (Date.now() >= deadline) throw new Error(problem);
      await sleep(POLL_MS);
    }
  }

  #problemOf(response: ClientResponse | Error): string | undefined {
    if (response instanceof Error) {
      const { name, message, cause } = response;
      // fetch only says that it failed; the cause says why.
      if (name === 'TypeError') return `${this.baseUrl} does not respond: ${String(cause ?? message)}.`;
      if (name === 'TimeoutError') return `${this.baseUrl} does not respond within ${TIMEOUT_MS / 1000} s.`;
      return `${this.baseUrl} is not this service: the response was ${message}.`;
    }
    if (!isError(response, 404)) return undefined;
    return `There is no POST /plants at ${this.baseUrl}; BASE_URL must be the address before /plants.`;
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
