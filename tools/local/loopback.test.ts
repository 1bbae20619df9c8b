import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../test/support/listen.ts';
import { rejectForeignRequests } from './loopback.ts';

/** Sends a request to a server that accepts no Origin, or any. Returns the status and the body. */
async function send(headers: Record<string, string>, { acceptOrigins = false } = {}): Promise<string> {
  const server = createServer((_, response) => response.end('accepted'));
  onTestFinished(() => void server.close());
  rejectForeignRequests(server, { acceptOrigins });
  const url = `http://${await listen(server)}`;
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { connection: 'close', ...headers } }, async (response) =>
      resolve(`${response.statusCode} ${await text(response)}`),
    );
    sent.on('error', reject).end();
  });
}

test.each(['127.0.0.1', '127.0.0.1:3000', 'localhost:8000', 'LOCALHOST', '[::1]:1'])(
  'accepts the Host %s',
  async (host) => {
    expect(await send({ host })).toBe('200 accepted');
  },
);

test.each(['a.example:3000', 'localhost.example', '127.0.0.1.example', '192.168.0.1', 'a b'])(
  'rejects the Host %j, as DNS rebinding sends it',
  async (host) => {
    expect(await send({ host }, { acceptOrigins: true })).toBe(
      `403 The Host was "${host}"; it must be 127.0.0.1, localhost or [::1].\n`,
    );
  },
);

test.each(['https://a.example', 'null', 'http://127.0.0.1:3000'])(
  'rejects the Origin %s, unless origins are allowed',
  async (origin) => {
    expect(await send({ origin })).toBe(`403 The Origin was "${origin}"; web pages must not use this port.\n`);
    expect(await send({ origin }, { acceptOrigins: true })).toBe('200 accepted');
  },
);
