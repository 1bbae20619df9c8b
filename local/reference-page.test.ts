import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { referencePage, serveReferencePage } from './reference-page.ts';
import { projectRoot } from './synthesize.ts';

const contract = readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8');
const baseUrl = 'https://plants.example.com/v1';
const page = referencePage(contract, { baseUrl });
const html = page['index.html'] ?? '';
const captures = (source: string, pattern: RegExp) => [...source.matchAll(pattern)].map(([, capture = '']) => capture);

test('changes only the server and, if there is a token, its description in the contract', () => {
  const { components, ...others } = parse(contract);
  const servers = [{ url: baseUrl }];
  expect(parse(String(page['openapi.yaml']))).toEqual({ ...others, components, servers });
  components.securitySchemes.bearerToken.description = expect.stringContaining('plantstore_Shown');
  const withToken = referencePage(contract, { baseUrl, token: 'plantstore_Shown' })['openapi.yaml'];
  expect(parse(String(withToken))).toEqual({ ...others, components, servers });
});

test('keeps an id beyond 2^53 in an example', () => {
  const example = 'info: { title: x }\nexample: { id: 9223372036854775807 }\n';
  expect(referencePage(example, { baseUrl })['openapi.yaml']).toMatch(/^example: \{ id: 9223372036854775807 \}$/m);
});

test('fails with a sentence if the contract is not YAML', () => {
  expect(() => referencePage('info: [', { baseUrl })).toThrow(/^The page cannot be made from openapi\.yaml: ./);
});

test('loads only its own files, has no inline script or style, and calls only the API', () => {
  const loaded = captures(html, /(?:src|href)="([^"]*)"/g).filter((link) => !link.startsWith('data:'));
  expect(loaded).toEqual(expect.arrayContaining(['page.js', 'page.css', 'swagger-ui-bundle.js', 'swagger-ui.css']));
  for (const name of loaded) expect(page).toHaveProperty([name]);
  expect(html).not.toMatch(/<script(?! src=)|<style|\sstyle=|\son\w+=/);
  const [policy = ''] = captures(html, /Content-Security-Policy" content="([^"]*)"/g);
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    "connect-src 'self' https://plants.example.com",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});

test('has the contract’s title, escaped', () => {
  const files = referencePage('info: { title: "</title><script>&$&" }', { baseUrl });
  expect(files['index.html']).toContain('<title>&lt;/title>&lt;script>&amp;$&amp;</title>');
});

/** A server with the page in front of a listener that responds with "not the page". */
async function serve() {
  const server = createServer((asked, response) => {
    serveReferencePage(asked, response, 'plantstore_Shown');
    if (!response.writableEnded) response.end('not the page');
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return async (path: string, { method = 'GET', host = 'plants.test:80' } = {}) => {
    const [response] = await once(request({ port, path, method, headers: { host }, agent: false }).end(), 'response');
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };
}

test('serves each file with its media type, whatever the query', async () => {
  const get = await serve();
  const types: Record<string, string> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.yaml': 'application/yaml',
    '.txt': 'text/plain',
  };
  const files = referencePage(contract, { baseUrl: 'http://plants.test:80', token: 'plantstore_Shown' });
  for (const [name, content] of Object.entries(files)) {
    expect(await get(`/docs/${name}?v=1`), name).toMatchObject({
      status: 200,
      headers: { 'content-type': `${types[extname(name)]}; charset=utf-8`, 'cache-control': 'no-store' },
      text: content,
    });
  }
  expect((await get('/docs/')).text).toBe(files['index.html']);
  expect(await get('/docs/', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  expect(await get('/docs')).toMatchObject({ status: 302, headers: { location: '/docs/' } });
});

test.each(['localhost', '127.0.0.1:3000', 'plants-store.test'])(
  'calls the host %s that it is opened at',
  async (host) => {
    const get = await serve();
    expect((await get('/docs/openapi.yaml', { host })).text).toContain(`url: http://${host}\n`);
  },
);

test.each([
  ['/docs/', { method: 'POST' }],
  ['/docs', { method: 'DELETE' }],
  ['/docs/', { host: 'x"y' }],
  ['/docs/', { host: 'x:1 y' }],
  ['/docs/none', {}],
  ['/docs/toString', {}],
  ['/docs/index.html/', {}],
  ['/docsx', {}],
  ['/x/docs/', {}],
  ['/', {}],
] as const)('ignores %s with %j', async (path, options) => {
  expect(await (await serve())(path, options)).toMatchObject({ status: 200, text: 'not the page' });
});
