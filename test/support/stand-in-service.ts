import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Sent {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** The bytes as text; U+FFFD stands for those that are no UTF-8. */
  body: string;
}

export interface Answered {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A service that answers as it is told to, until it is closed. */
export async function openStandIn(answerTo: (sent: Sent) => Answered | Promise<Answered>) {
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const bytes = await buffer(request);
    const answer = await answerTo({ method, path, headers, bytes, body: bytes.toString() });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A service that answers as it is told to, until the test is over. Returns its base URL. */
export async function startStandIn(answerTo: (sent: Sent) => Answered | Promise<Answered>): Promise<string> {
  const { url, close } = await openStandIn(answerTo);
  onTestFinished(close);
  return url;
}

/** What is different in the answer to a request. */
export type Change = (answer: Answered, sent: Sent) => Partial<Answered>;

/** The service at a base URL with something changed in each answer, until the test is over. Returns its base URL. */
export function startChanged(baseUrl: string, change: Change): Promise<string> {
  return startStandIn(async (sent) => {
    const { method, path, headers, bytes } = sent;
    // fetch would neither send nor answer the same headers.
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      httpRequest(baseUrl + path, { method, headers }, resolve)
        .on('error', reject)
        .end(bytes),
    );
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...passedOn } = answer.headers;
    const whole = { status: answer.statusCode ?? 0, headers: passedOn, body: await text(answer) };
    return { ...whole, ...change(whole, sent) };
  });
}
