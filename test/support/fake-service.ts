import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from '../../tools/local/listen.ts';

/** A request that the fake service has received. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** The bytes decoded as UTF-8, with U+FFFD for invalid ones. */
  body: string;
}

export interface FakeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Returns the response to a request, or undefined to close the connection without a response. */
type Respond = (sent: ReceivedRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>;

export async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const { method = '', url: path = '', headers } = request;
  const bytes = await buffer(request);
  return { method, path, headers, bytes, body: bytes.toString() };
}

function without(headers: IncomingHttpHeaders, ...names: string[]) {
  const kept = Object.entries(headers).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

/** Sends a received request to another server. Returns its response. */
export async function forward(base: string, { method, path, headers, bytes }: ReceivedRequest) {
  const passed = without(headers, 'host', 'connection', 'content-length', 'expect');
  const body = bytes.length > 0 ? { body: new Uint8Array(bytes) } : {};
  const response = await fetch(base + path, { method, headers: passed, ...body });
  // The body is decoded already.
  const received = without(Object.fromEntries(response.headers), 'content-length', 'content-encoding', 'date');
  return { status: response.status, headers: received, body: await response.text() };
}

/** Starts an HTTP server. Returns its base URL and its end. */
export async function startServer(respond: Respond) {
  const { url, server } = await listen(async (request, response) => {
    const fake = await respond(await receive(request));
    if (!fake) return void response.destroy();
    // The AWS SDK would correct its clock by the header Date, but a test can have set the clock.
    response.sendDate = false;
    response.writeHead(fake.status, fake.headers).end(fake.body);
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close };
}

/** Starts an HTTP server for the duration of the test. Returns its base URL. */
export async function startFakeService(respond: Respond): Promise<string> {
  const { url, close } = await startServer(respond);
  onTestFinished(close);
  return url;
}
