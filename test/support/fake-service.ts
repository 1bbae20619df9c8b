import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from './listen.ts';

/** A request that the fake service has received. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** The bytes decoded as UTF-8, with U+FFFD for invalid ones. */
  body: string;
}

export interface FakeResponse {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Returns the response to a request, or undefined to close the connection without a response. */
export type Respond = (sent: ReceivedRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>;

/** Starts an HTTP server for the duration of the test. Returns its base URL. */
export async function startFakeService(respond: Respond): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const bytes = await buffer(request);
    const fake = await respond({ method, path, headers, bytes, body: bytes.toString() });
    if (fake) response.writeHead(fake.status, fake.headers).end(fake.body);
    else response.destroy();
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${await listen(server)}`;
}
