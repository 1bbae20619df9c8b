import { environmentVariable, optionalVariable } from '../environment.ts';
import { DATABASE_IDLE_MS } from '../time-limits.ts';
import { resolveEndpoint } from './endpoint.ts';
import type { HttpResponse } from './response.ts';
import { sign } from './sign.ts';

/** Sends signed requests to DynamoDB, with the credentials in Lambda's environment variables. Keeps connections open. */
export class Connection {
  readonly #endpoint = resolveEndpoint();
  // An ESM import of node:http would load undici (nodejs/node issue 59686).
  readonly #http = process.getBuiltinModule(
    this.#endpoint.protocol === 'http:' ? 'node:http' : 'node:https',
  ) as typeof import('node:https');
  readonly #agent = new this.#http.Agent({ keepAlive: true });
  /** Lambda never changes them in an execution environment ("Using Lambda environment variables"). */
  readonly #signingSettings = {
    region: environmentVariable('AWS_REGION'),
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: optionalVariable('AWS_SESSION_TOKEN') ?? '',
  };

  /**
   * Sends an action once.
   *
   * @param body the input as JSON
   * @throws an Error of Node.js if there is no complete response
   */
  send(action: string, body: string, signal: AbortSignal): Promise<HttpResponse> {
    const unsigned = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${action}` };
    // Signs every attempt, because Lambda can freeze the environment between two attempts, and a signature expires.
    const headers = sign(this.#endpoint, unsigned, body, this.#signingSettings);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const request = this.#http
        .request(this.#endpoint, { method: 'POST', headers, agent: this.#agent, signal }, (response) =>
          response
            .on('data', (chunk: Buffer) => {
              chunks.push(chunk);
              timer.refresh();
            })
            .on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
            .on('error', reject),
        )
        .on('error', reject)
        .on('close', () => {
          clearTimeout(timer);
          // A 101 response, for example, closes a request without an error.
          reject(new Error('The database closed the connection.'));
        })
        .end(body);
      // The option `timeout` of node:http would not end a request whose headers never end.
      const giveUp = () => request.destroy(new Error(`The database sent nothing for ${DATABASE_IDLE_MS} ms.`));
      const timer = setTimeout(giveUp, DATABASE_IDLE_MS);
    });
  }
}
