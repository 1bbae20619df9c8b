import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import { environmentVariable, optionalVariable } from '../environment.ts';
import { ATTEMPT_IDLE_TIMEOUT_MS } from '../time-limits.ts';

/** Maximum length of a response in characters. An item of 400 KB can have 2.46 MB. Parsing 16 MB can take 1 GB. */
const MAX_RESPONSE_LENGTH = 3_000_000;

export type DatabaseResponse = { status: number; text: string; socket: Socket };

export class Connection {
  readonly #endpoint = new URL(environmentVariable('AWS_ENDPOINT_URL_DYNAMODB'));
  // Only the DynamoDB of the local run has no HTTPS.
  readonly #client = this.#endpoint.protocol === 'http:' ? http : https;
  readonly #agent = new this.#client.Agent({ keepAlive: true });
  readonly #signer = new SignatureV4({
    service: 'dynamodb',
    region: environmentVariable('AWS_REGION'),
    // Lambda never changes them in an execution environment ("Using Lambda environment variables").
    credentials: {
      accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
      secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
      sessionToken: optionalVariable('AWS_SESSION_TOKEN') ?? '',
    },
    sha256: Hash.bind(null, 'sha256'),
  });
  readonly #idleTimeoutMs: number;

  constructor(idleTimeoutMs = ATTEMPT_IDLE_TIMEOUT_MS) {
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  /** Sends an action once. Throws if there is no complete response. */
  async send(action: string, body: string, isRetry: boolean, signal: AbortSignal): Promise<DatabaseResponse> {
    const headers = await this.#sign(action, body);
    // After a failed attempt, the idle connections can be dead too. The agent opens a new one.
    if (isRetry) for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
    const request = this.#client.request(this.#endpoint, { method: 'POST', headers, agent: this.#agent, signal });
    return await receive(request.end(body), this.#idleTimeoutMs);
  }

  /** Returns the headers. Each attempt is signed: Lambda can freeze the environment, and a signature expires. */
  async #sign(action: string, body: string): Promise<Record<string, string>> {
    const { protocol, hostname, pathname: path, host } = this.#endpoint;
    const target = `DynamoDB_20120810.${action}`;
    // AWS requires a signed host ("Create a signed AWS API request").
    const headers = { host, 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
    return (await this.#signer.sign({ method: 'POST', protocol, hostname, path, headers, body })).headers;
  }
}

/** Returns the complete response to a request. Rejects if no headers, or later no data, arrive for `idleTimeoutMs`. */
function receive(request: ClientRequest, idleTimeoutMs: number): Promise<DatabaseResponse> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => {
      reject(new Error(message));
      request.destroy();
    };
    let awaited = 'headers';
    // A timeout of the socket starts again with each byte, so headers that arrive slowly would never time out.
    const timer = setTimeout(() => fail(`No ${awaited} arrived for ${idleTimeoutMs} ms.`), idleTimeoutMs);
    request.on('response', (response) => {
      // Read now, because `response.socket` is null after `end`.
      const { statusCode: status = 0, socket } = response;
      awaited = 'data';
      timer.refresh();
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        timer.refresh();
        text += part;
        if (text.length > MAX_RESPONSE_LENGTH) fail(`The response has more than ${MAX_RESPONSE_LENGTH} characters.`);
      });
      response.on('end', () => resolve({ status, text, socket }));
    });
    // After a truncated response, or one with the status 101, the request has no other event.
    request.on('close', () => {
      clearTimeout(timer);
      reject(new Error('The connection was closed without a complete response.'));
    });
    request.on('error', reject);
  });
}
