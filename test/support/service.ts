import { vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { createGateway } from '../../tools/local/gateway.ts';
import { listen } from '../../tools/local/listen.ts';
import { closedAtEnd } from './closed-at-end.ts';
import { contractBody } from './contract-body.ts';
import { startEngine } from './engine.ts';

/** Serves the function over HTTP with an engine, as the local run does, for the tests of a file. */
export async function startServiceWithEngine() {
  const engine = await startEngine();
  vi.spyOn(console, 'info').mockReturnValue();
  const { handler } = await import('../../functions/index.ts');
  const { url, server } = await listen(createGateway(handler, () => {}));
  // By default, it closes an idle connection after 5 s, perhaps while a slow machine sends the next request.
  server.keepAliveTimeout = 0;
  closedAtEnd({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url, engine };
}

/** Sends a body to the URL of POST /plants. Returns the response's body. Fails if the contract forbids the response. */
export async function post(url: string, body: string, token = DEVELOPMENT_TOKEN): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  const responseHeaders = Object.fromEntries(response.headers);
  return contractBody({ statusCode: response.status, headers: responseHeaders, body: await response.text() });
}
