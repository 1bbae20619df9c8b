import { createServer } from 'node:http';
import { DEVELOPMENT_TOKEN } from '../../tools/local/dynamodb.ts';
import { createGateway } from '../../tools/local/gateway.ts';
import { startServedFunctions } from '../../tools/local/lambda.ts';
import type { Template } from '../../tools/local/template.ts';
import { sharedTemplate } from './assembly.ts';
import { closedAtEnd } from './closed-at-end.ts';
import { contractBody } from './contract.ts';
import { startEngine } from './engine.ts';
import { listen } from './listen.ts';

/** Serves the template's routes and functions over HTTP, with the tables of the engine. */
export async function startTestService(template: Template, engine: { endpoint: string }) {
  const ignore = () => {};
  const functions = await startServedFunctions(template, engine, ignore);
  const server = createServer(createGateway(() => functions, ignore));
  // By default, it closes an idle connection after 5 s, perhaps while a slow machine sends the next request.
  server.keepAliveTimeout = 0;
  return {
    url: `http://${await listen(server)}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await functions.close();
    },
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** Serves the synthesized template with an engine, for the tests of a file. */
export async function startServiceWithEngine() {
  const template = await sharedTemplate();
  const engine = closedAtEnd(await startEngine(template));
  const { url } = closedAtEnd(await startTestService(template, engine));
  return { url, engine };
}

/** Sends a body to the URL of POST /plants. Returns the response's body. Fails if the contract forbids the response. */
export async function post(url: string, body: string, token = DEVELOPMENT_TOKEN): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  const responseHeaders = Object.fromEntries(response.headers);
  return contractBody({ statusCode: response.status, headers: responseHeaders, body: await response.text() });
}
