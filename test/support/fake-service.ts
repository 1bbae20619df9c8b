import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Sent {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** The bytes as text; U+FFFD is in place of those that are not UTF-8. */
  body: string;
}

export interface FakeResponse {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Starts a service that responds with what the function returns. */
export async function openFakeService(answerTo: (sent: Sent) => FakeResponse | Promise<FakeResponse>) {
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

/** The same until the test is over. Returns the base URL. */
export async function startFakeService(
  answerTo: (sent: Sent) => FakeResponse | Promise<FakeResponse>,
): Promise<string> {
  const { url, close } = await openFakeService(answerTo);
  onTestFinished(close);
  return url;
}
