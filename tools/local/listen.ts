import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requireMatch, UsageError } from '../command.ts';

/** The ports of the local run, by the environment variables that set them. The commands find it at these ports. */
const DEFAULT_PORTS = { PORT: '3000', DYNAMODB_PORT: '8000' };

type PortVariable = keyof typeof DEFAULT_PORTS;

const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

/** Returns the port that an environment variable sets, or its default. 0 is any free port. */
export function portOf(variable: PortVariable): number {
  const expected = 'a number from 0 to 65535';
  const port = Number(requireMatch(variable, process.env[variable] || DEFAULT_PORTS[variable], /^\d{1,5}$/, expected));
  if (port > 65_535) throw new UsageError(`${variable} was "${port}"; it must be ${expected}.`);
  return port;
}

/**
 * Starts a server on 127.0.0.1 that rejects requests for other hosts: a web page whose host name resolves to 127.0.0.1
 * (DNS rebinding) can send requests to it without an Origin.
 *
 * @param variable the environment variable with the port; without it, any free port is used
 */
export async function listen(listener: RequestListener, variable?: PortVariable) {
  const server = createServer((request, response) => {
    const { host = '' } = request.headers;
    if (LOCAL_HOST.test(host)) return listener(request, response);
    forbid(response, `The Host was "${host}"; it must be 127.0.0.1, localhost or [::1].`);
  });
  const port = variable === undefined ? 0 : portOf(variable);
  await once(server.listen(port, '127.0.0.1'), 'listening').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'EADDRINUSE') throw thrown;
    if (variable === 'DYNAMODB_PORT' && port === portOf('PORT'))
      throw new Error(`PORT and DYNAMODB_PORT were both ${port}; they must be different.`);
    const advice = `End it, or put another ${variable} into the file .env.`;
    throw new Error(`Port ${port} is in use, perhaps by another npm start. ${advice}`);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Responds with 403 and a sentence. */
export function forbid(response: ServerResponse, sentence: string): void {
  response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(`${sentence}\n`);
}
