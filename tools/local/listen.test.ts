import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { listen, portOf } from './listen.ts';

beforeEach(() => void vi.unstubAllEnvs());

/** Sends a request with this Host. Returns the status and the body. */
async function send(host: string): Promise<string> {
  const { url, server } = await listen((_, response) => response.end('accepted'));
  onTestFinished(() => void server.close());
  const [response] = await once(request(url, { headers: { connection: 'close', host } }).end(), 'response');
  return `${response.statusCode} ${await text(response)}`;
}

test('listens only on 127.0.0.1, and says what to do if the port is in use', async () => {
  const { server } = await listen(() => {});
  onTestFinished(() => void server.close());
  const { address, port } = server.address() as AddressInfo;
  expect(address).toBe('127.0.0.1');
  vi.stubEnv('PORT', String(port));
  const advice = 'End it, or put another PORT into the file .env.';
  const message = `Port ${port} is in use, perhaps by another npm start. ${advice}`;
  await expect(listen(() => {}, 'PORT')).rejects.toThrow(message);
  vi.stubEnv('DYNAMODB_PORT', String(port));
  const both = `PORT and DYNAMODB_PORT were both ${port}; they must be different.`;
  await expect(listen(() => {}, 'DYNAMODB_PORT')).rejects.toThrow(both);
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

test('uses the ports 3000 and 8000 by default', () => {
  for (const variable of ['PORT', 'DYNAMODB_PORT']) vi.stubEnv(variable, undefined);
  expect([portOf('PORT'), portOf('DYNAMODB_PORT')]).toEqual([3000, 8000]);
});

test.each(['-1', '65536', '1e3', '٥', 'http'])('rejects the port "%s"', (port) => {
  vi.stubEnv('DYNAMODB_PORT', port);
  expect(() => portOf('DYNAMODB_PORT')).toThrow(`DYNAMODB_PORT was "${port}"; it must be a number from 0 to 65535.`);
});
