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
const captures = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, capture = '']) => capture);

test('the page’s contract is openapi.yaml with the base URL for its server, and nothing else', () => {
  expect(parse(String(page['openapi.yaml']))).toEqual({ ...parse(contract), servers: [{ url: baseUrl }] });
});

test('an id beyond 2^53 in an example stays as it is', () => {
  const example = 'info: { title: x }\nexample: { id: 9223372036854775807 }\n';
  expect(referencePage(example, { baseUrl })['openapi.yaml']).toMatch(/^example: \{ id: 9223372036854775807 \}$/m);
});

test.each(['info: [', 'none'])('a contract %j is refused with a sentence', (text) => {
  expect(() => referencePage(text, { baseUrl })).toThrow(/^The page cannot be made from openapi\.yaml: ./);
});

test('a token is offered where it is asked for, and only there', () => {
  const token = 'plantstore_Offered';
  const { components } = parse(String(referencePage(contract, { baseUrl, token })['openapi.yaml']));
  expect(components.securitySchemes.bearerToken.description).toContain(token);
  expect(Object.values(page).join()).not.toMatch(/plantstore_[A-Za-z]{20}/);
});

test('a token is offered for no other scheme than bearer, and for none where there is none', () => {
  const schemes = (securitySchemes: unknown) => {
    const example = JSON.stringify({ info: { title: 'x' }, components: { securitySchemes } });
    return parse(String(referencePage(example, { baseUrl, token: 'x' })['openapi.yaml'])).components.securitySchemes;
  };
  const key = { type: 'apiKey', in: 'header', name: 'x-key' };
  const bearer = { type: 'http', scheme: 'bearer' };
  expect(schemes({ bearer, key, none: null })).toEqual({
    bearer: { ...bearer, description: expect.any(String) },
    key,
    none: null,
  });
  expect(schemes(null)).toBe(null);
});

test('only the page’s own files are loaded, no script or style stands in it, and only the API can be called', () => {
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

test('Swagger UI is as it was published, but sends a browser’s tools after no file that is not there', () => {
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    const published = readFileSync(join(projectRoot, 'node_modules/swagger-ui-dist', name), 'utf8');
    expect(page[name]).toBe(published.split(/\/[/*]# sourceMappingURL=/)[0]);
  }
  expect(Object.values(page).join()).not.toContain('sourceMappingURL');
});

test('the title is the contract’s, whatever stands in it', () => {
  const files = referencePage('info: { title: "</title><script>&" }', { baseUrl });
  expect(files['index.html']).toContain('<title>&#60;/title&#62;&#60;script&#62;&#38;</title>');
});

/** A server that has the page beside what answers all else by "no page". */
async function serve() {
  const server = createServer((_, response) => response.end('no page'));
  serveReferencePage(server, 'plantstore_Offered');
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (path: string, { method = 'GET', host = 'plants.test:80' } = {}) => {
    const sent = request({ port, path, method, headers: { host }, agent: false }).end();
    const [response] = await once(sent, 'response');
    const { statusCode: status, headers } = response;
    return { status, headers, text: await text(response) };
  };
}

test('each file is served with its media type, as it is now, whatever query is sent along', async () => {
  const ask = await serve();
  const types: Record<string, string> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.yaml': 'application/yaml',
    '.txt': 'text/plain',
  };
  const expected = referencePage(contract, { baseUrl: 'http://plants.test:80', token: 'plantstore_Offered' });
  for (const [name, content] of Object.entries(expected)) {
    for (const path of [`/docs/${name}`, `/docs/${name}?v=1`]) {
      expect(await ask(path), path).toMatchObject({
        status: 200,
        headers: { 'content-type': `${types[extname(name)]}; charset=utf-8`, 'cache-control': 'no-store' },
        text: content,
      });
    }
  }
  expect((await ask('/docs/')).text).toBe(expected['index.html']);
});

test('the page’s path without a slash leads to it, and HEAD has no body', async () => {
  const ask = await serve();
  expect(await ask('/docs')).toMatchObject({ status: 302, headers: { location: '/docs/' } });
  const head = await ask('/docs/', { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, text: '' });
});

test.each(['localhost', 'localhost:3000', '127.0.0.1:3000', 'plants-store.test'])(
  'the console calls %s where the page was asked for there',
  async (host) => {
    const ask = await serve();
    expect((await ask('/docs/openapi.yaml', { host })).text).toContain(`url: http://${host}\n`);
  },
);

test.each([
  ['/docs/', { method: 'POST' }],
  ['/docs', { method: 'DELETE' }],
  ['/docs/', { host: 'x"y' }],
  ['/docs/', { host: 'x y' }],
  ['/docs/', { host: 'x:y' }],
  ['/docs/', { host: 'x:1 y' }],
  ['/docs/', { host: '"x' }],
  ['/docs/none', {}],
  ['/docs/toString', {}],
  ['/docs/index.html/', {}],
  ['/docsx', {}],
  ['/x/docs/', {}],
  ['/', {}],
] as const)('%s with %j is not the page’s to answer', async (path, options) => {
  expect(await (await serve())(path, options)).toMatchObject({ status: 200, text: 'no page' });
});
