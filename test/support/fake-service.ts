import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listenOnFreePort } from './listen-on-free-port.ts';

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
type Respond = (sent: ReceivedRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>;

/** Sends a received request to another server. Returns its response. */
export async function forward(base: string, { method, path, headers, bytes }: ReceivedRequest) {
  const { host: _, connection: __, 'content-length': ___, expect: ____, ...passed } = headers;
  const body = bytes.length > 0 ? { body: new Uint8Array(bytes) } : {};
  const response = await fetch(base + path, { method, headers: passed as Record<string, string>, ...body });
  // The body is decoded already.
  const { 'content-length': _____, 'content-encoding': ______, ...received } = Object.fromEntries(response.headers);
  return { status: response.status, headers: received, body: await response.text() };
}

/** Starts an HTTP server. Returns its base URL and a function that closes it. */
export async function startServer(respond: Respond) {
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const bytes = await buffer(request);
    const fake = await respond({ method, path, headers, bytes, body: bytes.toString() });
    if (!fake) return void response.destroy();
    response.writeHead(fake.status, fake.headers).end(fake.body);
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://${await listenOnFreePort(server)}`, close };
}

/** Starts an HTTP server for the duration of the test. Returns its base URL. */
export async function startFakeService(respond: Respond): Promise<string> {
  const { url, close } = await startServer(respond);
  onTestFinished(close);
  return url;
}
