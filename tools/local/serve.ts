import { once } from 'node:events';
import { createServer } from 'node:http';
import inspector from 'node:inspector';
import type { AddressInfo } from 'node:net';
import { errorText } from '../../infra/error-text.ts';
import { createTables } from './dynamodb.ts';
import { createGateway, importRoutes } from './gateway.ts';
import { printOnlyCauses } from './log.ts';
import { rejectWebPages } from './loopback.ts';

export interface ServeOptions {
  /** 0 for any free port. */
  port: number;
  /** The endpoint of DynamoDB. */
  endpoint: string;
  /** True to open a debugger's port. */
  inspect: boolean;
}

/** Serves the operations on 127.0.0.1, in this process. Returns the port. */
export async function serve({ port, endpoint, inspect }: ServeOptions): Promise<number> {
  if (inspect) inspector.open();
  // An error after the response, for example because of a forgotten `await`, does not end the service.
  for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, (error) => console.error(error));
  await createTables(endpoint);
  const routes = await importRoutes();
  printOnlyCauses();
  const server = createServer(createGateway(routes, console.log));
  // The operations have ALLOW_ORIGINS for other origins.
  rejectWebPages(server, { origins: true });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

// This file runs as the child process of npm run dev.
if (import.meta.main) {
  try {
    process.send?.(await serve(JSON.parse(String(process.argv[2]))));
  } catch (error) {
    console.error(errorText(error));
    process.send?.(errorText(error), () => process.exit(1));
  }
}
