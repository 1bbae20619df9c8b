import { afterAll, vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { createGateway } from '../../tools/local/gateway.ts';
import { listen } from '../../tools/local/listen.ts';
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
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, engine };
}

/** Sends a body to the URL of POST /plants. */
export async function send(url: string, body: string, token = DEVELOPMENT_TOKEN) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** Sends a body. Returns the response's body. Fails if the contract forbids the response. */
export async function post(...request: Parameters<typeof send>): Promise<Record<string, unknown>> {
  return contractBody(await send(...request));
}
