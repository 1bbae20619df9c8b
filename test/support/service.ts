import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { deploy } from '../../local/deploy.ts';
import { createGateway } from '../../local/gateway.ts';
import type { Template } from '../../local/template.ts';

/** The template's functions behind its routes, on an engine's tables, over real HTTP. */
export async function startService(template: Template, engine: { endpoint: string }) {
  const deployment = await deploy(template, engine, () => {});
  const gateway = createGateway(
    () => deployment,
    () => {},
  );
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    close: async () => {
      gateway.closeAllConnections();
      gateway.close();
      await deployment.close();
    },
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;
