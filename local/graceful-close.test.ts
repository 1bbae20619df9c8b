import { on, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { gracefulClose } from './graceful-close.ts';

/** A server that answers when the test does, and its close. */
async function startServer() {
  const server = createServer();
  const close = gracefulClose(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const requests = on(server, 'request');
  return {
    port,
    async close(): Promise<void> {
      await close();
      expect(server.listening).toBe(false);
      expect(await promisify(server.getConnections.bind(server))()).toBe(0);
    },
    /** The next request to arrive. */
    request: async () => (await requests.next()).value?.[1] as ServerResponse,
    /** A connection that has sent a text, and never ends by itself. */
    async send(text: string): Promise<Socket> {
      const arrived = once(server, 'connection');
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      const [accepted] = (await arrived) as [Socket];
      socket.on('error', () => {});
      socket.write(text);
      await expect.poll(() => accepted.bytesRead, { timeout: 30_000 }).toBe(text.length);
      return socket;
    },
  };
}

test.each([
  ['that never sent a byte', ''],
  ['with half a request line', 'POST /pl'],
  ['with half a head', 'POST /plants HTTP/1.1\r\nhost: x\r\n'],
])('a connection %s is not waited for', async (_, text) => {
  const server = await startServer();
  const socket = await server.send(text);
  // What is ended only after a while is never ended now.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await server.close();
  socket.destroy();
});

test('a request whose body ends meanwhile is answered', async () => {
  const server = await startServer();
  const socket = await server.send('POST /plants HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{');
  const response = await server.request();
  // The time that it has does not run out on a slow machine.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = server.close();
  socket.write('}');
  await once(response.req.resume(), 'end');
  response.end('the answer');
  expect(String((await once(socket, 'data'))[0])).toMatch(/the answer$/);
  await closed;
  socket.destroy();
});

test('a body that never ends is waited for 500 ms in vain, and no longer', async () => {
  const server = await startServer();
  const socket = await server.send('POST /plants HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{');
  const { req } = await server.request();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = server.close();
  vi.advanceTimersByTime(499);
  expect(req.socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  await closed;
  expect(vi.getTimerCount()).toBe(0);
  socket.destroy();
});

test('a caller that does not read its answer is waited for 500 ms, and no longer', async () => {
  const server = await startServer();
  const socket = await server.send('GET /plants HTTP/1.1\r\nhost: x\r\n\r\n');
  const response = await server.request();
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = server.close();
  // More than the connection takes in at once.
  response.end(Buffer.alloc(64 * 1024 * 1024));
  vi.advanceTimersByTime(499);
  expect(response.req.socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  await closed;
  socket.destroy();
});

test('a request that has arrived is answered, and the ones that follow it on its connection are not waited for', async () => {
  const server = await startServer();
  const socket = await server.send('GET /first HTTP/1.1\r\nhost: x\r\n\r\n');
  const response = await server.request();
  // What is ended only after a while is never ended now.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = server.close();
  socket.write('GET /second HTTP/1.1\r\nhost: x\r\n\r\n');
  await server.request();
  // However long that takes.
  vi.advanceTimersByTime(60_000);
  response.end('the answer');
  expect(String((await once(socket, 'data'))[0])).toMatch(/the answer$/);
  await closed;
  socket.destroy();
});

test('a connection stays open, and then all that has arrived on it is answered', async () => {
  const server = await startServer();
  const socket = await server.send('GET /first HTTP/1.1\r\nhost: x\r\n\r\n');
  let text = '';
  socket.on('data', (chunk) => (text += chunk));
  (await server.request()).end('first answer');
  await expect.poll(() => text, { timeout: 30_000 }).toContain('first answer');
  socket.write('GET /second HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2));
  const responses = [await server.request(), await server.request()];
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = server.close();
  responses[0]?.end('second answer');
  await once(responses[0] as ServerResponse, 'close');
  responses[1]?.end('third answer');
  await closed;
  await expect.poll(() => text, { timeout: 30_000 }).toMatch(/second answer.*third answer$/s);
  socket.destroy();
});
