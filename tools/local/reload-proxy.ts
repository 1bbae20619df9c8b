import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayResponse } from './gateway.ts';

const FAILURE_PAGE = `<!doctype html>
<title>The functions do not run</title>
<p>The functions do not run. The terminal of <code>npm run dev</code> shows why.
`;

/**
 * Returns a server that passes requests on to the process with the functions, and a function that waits until those
 * requests have their responses, or the time is up.
 *
 * @param functionsPort returns the port of the process as soon as it is ready, or undefined if it failed
 */
export function createReloadProxy(functionsPort: () => Promise<number | undefined>) {
  const running = new Set<Promise<void>>();
  const server = createServer(async (message, response) => {
    const port = await functionsPort();
    // The client has disconnected.
    if (response.destroyed) return;
    if (port === undefined) return sendFailure(message, response);
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
      else sendFailure(message, response);
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

/** Responds as API Gateway does if a function fails, or with a page to a browser. */
function sendFailure(message: IncomingMessage, response: ServerResponse): void {
  const { status, headers, text } = gatewayResponse('DEFAULT_5XX');
  // An unread body would block the connection.
  message.resume();
  if (message.headers.accept?.includes('text/html')) {
    response.writeHead(status, { ...headers, 'content-type': 'text/html' }).end(FAILURE_PAGE);
  } else {
    response.writeHead(status, headers).end(text);
  }
}
