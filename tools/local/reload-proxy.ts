import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayResponse } from './gateway.ts';

/** The port of the process with the functions, or the reason why it does not run. */
export type PortOrReason = number | string;

export const ENDED = 'The process of the functions has ended.';

/**
 * Returns a server that passes requests on to the process with the functions, and a function that waits until those
 * requests have their responses, or the time is up.
 *
 * @param functionsPort waits until the process is ready or has failed
 */
export function createReloadProxy(functionsPort: () => Promise<PortOrReason>) {
  const running = new Set<Promise<void>>();
  const server = createServer(async (message, response) => {
    const port = await functionsPort();
    // The client has disconnected.
    if (response.destroyed) return;
    if (typeof port === 'string') return sendFailure(message, response, port);
    const { method, url: path, rawHeaders: headers } = message;
    // Without an agent, no request gets an open connection that the process is about to close.
    const options = { host: '127.0.0.1', port, method, path, headers, setDefaultHeaders: false, agent: false };
    const toFunctions = request(options, (result) => {
      // These are about one connection. This server sets its own.
      const { connection: _, 'keep-alive': __, ...others } = result.headers;
      response.writeHead(Number(result.statusCode), others);
      pipeline(result, response, () => {});
    });
    toFunctions.on('error', () => {
      message.unpipe(toFunctions);
      if (response.headersSent) response.destroy();
      else sendFailure(message, response, ENDED);
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    response.on('close', () => {
      toFunctions.destroy();
      running.delete(promise);
      resolve();
    });
    message.pipe(toFunctions);
  });
  const finish = (milliseconds: number) => Promise.race([Promise.all(running), sleep(milliseconds)]);
  return { server, finish };
}

/** Responds with error 500, or with a page to a browser. */
function sendFailure(message: IncomingMessage, response: ServerResponse, reason: string): void {
  const { status, headers } = gatewayResponse('DEFAULT_5XX');
  // An unread body would block the connection.
  message.resume();
  if (message.headers.accept?.includes('text/html')) {
    const escaped = reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const page = `<!doctype html><meta charset="utf-8"><title>Error</title><pre>${escaped}</pre>`;
    response.writeHead(status, { ...headers, 'content-type': 'text/html' }).end(page);
  } else {
    response.writeHead(status, headers).end(JSON.stringify({ error: 500, message: reason }));
  }
}
