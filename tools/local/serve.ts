import { once } from 'node:events';
import { createServer } from 'node:http';
import inspector from 'node:inspector';
import { format } from 'node:util';
import { createTables } from './dynamodb.ts';
import { createGateway, importRoutes } from './gateway.ts';
import { shortenRequestLines } from './log.ts';

export interface ServeOptions {
  port: number;
  /** The endpoint of DynamoDB. */
  endpoint: string;
  /** True to open a debugger's port. */
  inspect: boolean;
}

/** Serves the operations on 127.0.0.1, in this process. */
export async function serve({ port, endpoint, inspect }: ServeOptions): Promise<void> {
  if (inspect) openDebuggerPort();
  // An error after the response, as after a forgotten `await`, does not end the service.
  for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, (error) => console.error(error));
  await createTables(endpoint);
  const routes = await importRoutes().catch((error) => {
    throw new Error(format('The functions cannot be loaded:\n%O', error));
  });
  shortenRequestLines();
  await once(createServer(createGateway(routes)).listen(port, '127.0.0.1'), 'listening');
}

function openDebuggerPort(): void {
  inspector.open();
  if (inspector.url()) return;
  throw new Error(
    `The debugger's port ${process.debugPort} is in use; select another: NODE_OPTIONS=--inspect-port=9300`,
  );
}

// This file runs as the child process of npm run dev.
if (import.meta.main) {
  try {
    await serve(JSON.parse(String(process.argv[2])));
    process.send?.('ready');
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
