import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEVELOPMENT_TOKEN } from '../../local/dynamodb.ts';
import { createGateway } from '../../local/gateway.ts';
import { deploy } from '../../local/lambda.ts';
import type { Template } from '../../local/template.ts';
import { contractBody } from './contract.ts';
import { startEngine } from './engine.ts';

/** The template's functions behind its routes, on an engine's tables, over real HTTP. */
export async function startTestService(template: Template, engine: { endpoint: string }) {
  const deployment = await deploy(template, engine, () => {});
  const gateway = createGateway(
    () => deployment,
    () => {},
  );
  const server = createServer(gateway).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await deployment.close();
    },
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** The service as it is deployed by default, on an engine of its own. */
export async function startOwnService() {
  const engine = await startEngine();
  const service = await startTestService(engine.template, engine);
  return {
    engine,
    url: service.url,
    close: async () => {
      await service.close();
      await engine.close();
    },
  };
}

export type OwnService = Awaited<ReturnType<typeof startOwnService>>;

/** Sends a body to POST /plants at this URL. Returns the response's body, if the contract allows the response. */
export async function post(url: string, body: string, token = DEVELOPMENT_TOKEN): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  const { status: statusCode } = response;
  return contractBody({ statusCode, headers: Object.fromEntries(response.headers), body: await response.text() });
}
