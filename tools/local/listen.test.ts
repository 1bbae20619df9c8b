import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { listen, portOf } from './listen.ts';

beforeEach(() => void vi.unstubAllEnvs());

async function startServer(variable?: 'PORT'): Promise<string> {
  const { url, server } = await listen((_, response) => response.end('accepted'), variable);
  onTestFinished(() => void server.close());
  return url;
}

/** Sends a request with this Host. Returns the status and the body. */
async function send(host: string): Promise<string> {
  const url = await startServer();
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { connection: 'close', host } }, async (response) =>
      resolve(`${response.statusCode} ${await text(response)}`),
    );
    sent.on('error', reject).end();
  });
}

test('listens only on 127.0.0.1', async () => {
  const { server } = await listen(() => {});
  onTestFinished(() => void server.close());
  expect(server.address()).toMatchObject({ address: '127.0.0.1' });
});

test.each(['127.0.0.1', '127.0.0.1:3000', 'LOCALHOST:8000', '[::1]:1'])('accepts the Host %s', async (host) => {
  expect(await send(host)).toBe('200 accepted');
});

test.each(['a.example:3000', 'localhost.example', '127.0.0.1.example', '192.168.0.1', 'a b'])(
  'rejects the Host %j, as DNS rebinding sends it',
  async (host) => {
    expect(await send(host)).toBe(`403 The Host was "${host}"; it must be 127.0.0.1, localhost or [::1].\n`);
  },
);

test('says what to do if the port is in use', async () => {
  const { port } = new URL(await startServer());
  vi.stubEnv('PORT', port);
  await expect(startServer('PORT')).rejects.toThrow(
    `Port ${port} is in use, perhaps by another npm start. End it, or set PORT to another port.`,
  );
});

test('uses the ports 3000 and 8000 by default', () => {
  for (const variable of ['PORT', 'DYNAMODB_PORT']) vi.stubEnv(variable, undefined);
  expect([portOf('PORT'), portOf('DYNAMODB_PORT')]).toEqual([3000, 8000]);
});

test.each(['-1', '65536', '1e3', '٥', 'http'])('rejects the port "%s"', (port) => {
  vi.stubEnv('DYNAMODB_PORT', port);
  expect(() => portOf('DYNAMODB_PORT')).toThrow(`DYNAMODB_PORT was "${port}"; it must be a number from 0 to 65535.`);
});
