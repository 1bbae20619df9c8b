import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { listen, portOf } from './listen.ts';

beforeEach(() => void vi.unstubAllEnvs());

test('listens only on 127.0.0.1, and says what to do if the port is in use', async () => {
  const { server } = await listen(() => {});
  onTestFinished(() => void server.close());
  const { address, port } = server.address() as AddressInfo;
  expect(address).toBe('127.0.0.1');
  vi.stubEnv('PORT', String(port));
  await expect(listen(() => {}, 'PORT')).rejects.toThrow(RegExp(`${port} .*PORT .*\\.env`));
  vi.stubEnv('DYNAMODB_PORT', String(port));
  await expect(listen(() => {}, 'DYNAMODB_PORT')).rejects.toThrow(RegExp(`^PORT and DYNAMODB_PORT .* ${port};`));
});

test.each([
  [200, ['127.0.0.1', '127.0.0.1:3000', 'LOCALHOST:8000', '[::1]:1']],
  // As DNS rebinding sends it.
  [403, ['a.example:3000', 'localhost.example', '127.0.0.1.example', '192.168.0.1', 'a b']],
])('responds with %i to the Hosts %j', async (status, hosts) => {
  const { url, server } = await listen((_, response) => response.end('accepted'));
  onTestFinished(() => void server.close());
  for (const host of hosts) {
    const [response] = await once(request(url, { headers: { connection: 'close', host } }).end(), 'response');
    expect(await text(response)).toContain(status === 200 ? 'accepted' : `"${host}"`);
    expect(response.statusCode, host).toBe(status);
  }
});

test('the ports are 3000 and 8000 by default, and must be numbers up to 65535', () => {
  for (const variable of ['PORT', 'DYNAMODB_PORT']) vi.stubEnv(variable, undefined);
  expect([portOf('PORT'), portOf('DYNAMODB_PORT')]).toEqual([3000, 8000]);
  for (const port of ['-1', '65536', '1e3', '٥', 'http']) {
    vi.stubEnv('DYNAMODB_PORT', port);
    expect(() => portOf('DYNAMODB_PORT')).toThrow(RegExp(`^DYNAMODB_PORT .*"${port}".* 65535`));
  }
});
