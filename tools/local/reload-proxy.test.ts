import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import { listen } from '../../test/support/listen.ts';
import { createReloadProxy, ENDED, type PortOrReason } from './reload-proxy.ts';

function closedAfterTest(server: Server): Server {
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return server;
}

/** Serves as the process with the functions does. Returns the port. */
async function startFunctions(listener: RequestListener): Promise<number> {
  const [, port] = (await listen(closedAfterTest(createServer(listener)))).split(':');
  return Number(port);
}

/** The longest time of a timer: a test that waits for it fails. */
const NEVER = 2 ** 31 - 1;

async function startProxy(port: PortOrReason | Promise<number>) {
  const { server, finish } = createReloadProxy(async () => port);
  closedAfterTest(server);
  return { url: `http://${await listen(server)}`, server, finish };
}

test('sends the request unchanged, and the response', async () => {
  const port = await startFunctions(async ({ method, url, rawHeaders }, response) => {
    response.writeHead(400, { 'x-own': 'a' }).end(JSON.stringify({ method, url, rawHeaders }));
  });
  const { url } = await startProxy(port);
  const headers = ['Host', 'api.example', 'X-Two', '1', 'x-two', '2'];
  const [response] = await once(request(`${url}/a%2Fb?c=%20`, { headers, setDefaultHeaders: false }).end(), 'response');
  expect(JSON.parse(await text(response))).toEqual({ method: 'GET', url: '/a%2Fb?c=%20', rawHeaders: headers });
  expect(response).toMatchObject({ statusCode: 400, headers: { 'x-own': 'a' } });
});

test('closes the connection of an HTTP/1.0 client', async () => {
  const { url } = await startProxy(await startFunctions((_, response) => response.end('x')));
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.write('GET / HTTP/1.0\r\nHost: x\r\n\r\n');
  expect(await text(client)).toMatch(/^HTTP\/1\.1 200 OK\r\n(.+\r\n)*connection: close\r\n/i);
});

test('sends a large body as it arrives', async () => {
  const port = await startFunctions(async (message, response) => {
    const [first] = await once(message, 'data');
    response.write(first);
    response.end(await buffer(message));
  });
  const { url } = await startProxy(port);
  const upload = request(url, { method: 'POST' });
  upload.write('first');
  const [response] = await once(upload, 'response');
  const [first] = await once(response, 'data');
  expect(String(first)).toBe('first');
  upload.end(Buffer.alloc(1024 * 1024, 'x'));
  expect(await buffer(response)).toHaveLength(1024 * 1024);
});

test('a request waits until the process is ready', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const { url, finish } = await startProxy(promise);
  const response = fetch(url, { method: 'POST', body: 'x' });
  // It does not delay the start of the process.
  await finish(NEVER);
  resolve(await startFunctions((message, response) => message.pipe(response)));
  expect(await (await response).text()).toBe('x');
});

test.each([
  ['cannot load the code', 'const x = <;', 'const x = &lt;;', async () => 'const x = <;'],
  ['ends during the request', ENDED, ENDED, () => startFunctions(({ socket }) => socket.destroy())],
])('if the process %s, returns error 500 with the reason, or a page to a browser', async (_, reason, html, start) => {
  const { url } = await startProxy(await start());
  const upload = request(url, { method: 'POST' }).end(Buffer.alloc(10 * 1024 * 1024));
  // Some clients read the response only after they have sent the whole body.
  const [[response]] = await Promise.all([once(upload, 'response'), once(upload, 'finish')]);
  const { statusCode, headers } = response;
  expect(contractBody({ statusCode, headers, body: await text(response) })).toEqual({ error: 500, message: reason });
  const page = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect(page.headers.get('content-type')).toBe('text/html');
  expect(await page.text()).toContain(html);
});

test('waits for running requests, but not longer than the time that they get', async () => {
  const started = Promise.withResolvers<() => void>();
  const { url, finish } = await startProxy(
    await startFunctions((_, response) => started.resolve(() => void response.end())),
  );
  const response = fetch(url);
  const respond = await started.promise;
  await finish(10);
  const finished = finish(NEVER);
  await expect(Promise.race([finished, sleep(50, 'running')])).resolves.toBe('running');
  respond();
  await finished;
  expect((await response).status).toBe(200);
});

test('a client that disconnects ends its request only', async () => {
  const received = Promise.withResolvers<IncomingMessage>();
  const { url, finish } = await startProxy(
    await startFunctions((message, response) => {
      if (message.method === 'POST') received.resolve(message);
      else response.end();
    }),
  );
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf');
  const message = await received.promise;
  client.destroy();
  await expect(text(message)).rejects.toThrow('aborted');
  await finish(NEVER);
  expect((await fetch(url)).status).toBe(200);
});

test('a client that disconnects before the process is ready is not a running request', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const { url, server, finish } = await startProxy(promise);
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [{ socket }] = await once(server, 'request');
  client.destroy();
  await once(socket, 'close');
  resolve(await startFunctions((_, response) => response.end()));
  expect((await fetch(url)).status).toBe(200);
  await finish(NEVER);
});
