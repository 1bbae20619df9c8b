import { text } from 'node:stream/consumers';
import { HttpRequest } from '@smithy/core/protocols';
import { Hash } from '@smithy/core/serde';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { environmentVariable, optionalVariable } from '../environment.ts';
import type { HttpResponse } from './response.ts';

/** Signs requests to DynamoDB, sends them, and keeps the connections open. */
export class Connection {
  readonly #endpoint = new URL(environmentVariable('AWS_ENDPOINT_URL_DYNAMODB'));
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
  readonly #handler: NodeHttpHandler;

  /** @param silenceMs An attempt fails if no headers, or later no data, arrive for this time. */
  constructor(silenceMs: number) {
    // By default, requests wait for one of 50 sockets, and this wait counts as time without headers.
    const agent = { maxSockets: Number.POSITIVE_INFINITY };
    this.#handler = new NodeHttpHandler({
      requestTimeout: silenceMs,
      // By default, this timeout is only logged.
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs,
      httpAgent: agent,
      httpsAgent: agent,
    });
  }

  /**
   * Sends an action once. Signs each attempt, because Lambda can freeze the environment between two, and a signature
   * expires after some minutes.
   *
   * @param body the input as JSON
   * @throws an Error of Node.js or of Smithy if there is no complete response
   */
  async send(action: string, body: string, abortSignal: AbortSignal): Promise<HttpResponse> {
    const { protocol, hostname, port, pathname, host } = this.#endpoint;
    const request = {
      method: 'POST',
      protocol,
      hostname,
      ...(port && { port: Number(port) }),
      path: pathname,
      // AWS requires a signed host ("Create a signed AWS API request").
      headers: { host, 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${action}` },
      body,
    };
    const signed = new HttpRequest(await this.#signer.sign(request));
    const { response } = await this.#handler.handle(signed, { abortSignal });
    return { status: response.statusCode, text: await text(response.body) };
  }
}
