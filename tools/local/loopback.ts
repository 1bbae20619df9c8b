import type { IncomingHttpHeaders, Server } from 'node:http';

/** Returns true for an http or https URL of this machine. */
export function isLoopback(url = ''): boolean {
  const { protocol = '', hostname = '' } = URL.parse(url) ?? {};
  return /^https?:$/.test(protocol) && /^(localhost|\[::1\]|127\.[\d.]+)$/.test(hostname);
}

interface Options {
  /** True to accept requests with an Origin, which a browser sends for a web page. */
  acceptOrigins: boolean;
}

/**
 * Makes a server respond with 403 to requests from elsewhere. Call this after all request listeners were added.
 *
 * Requests for other hosts are from elsewhere too: a web page can send requests without an Origin to this machine if
 * the DNS server of its own host name returns 127.0.0.1 (DNS rebinding).
 */
export function rejectForeignRequests(server: Server, options: Options): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request').on('request', (request, response) => {
    const problem = problemOf(request.headers, options);
    if (problem) response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(`${problem}\n`);
    else for (const listener of listeners) listener.call(server, request, response);
  });
}

function problemOf({ host, origin }: IncomingHttpHeaders, { acceptOrigins }: Options): string | undefined {
  if (origin !== undefined && !acceptOrigins) return `The Origin was "${origin}"; web pages must not use this port.`;
  const url = `http://${host}`;
  return isLoopback(url) ? undefined : `The Host was "${host}"; it must be 127.0.0.1, localhost or [::1].`;
}
