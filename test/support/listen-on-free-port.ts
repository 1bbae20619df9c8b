import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Starts a server on a free port of this machine. Returns its host and port. */
export async function listenOnFreePort(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
