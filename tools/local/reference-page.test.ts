import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { listen } from '../../test/support/listen.ts';
import { referencePage, serveReferencePage } from './reference-page.ts';
import { projectRoot } from './synthesize.ts';

const contract = readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8');
const baseUrl = 'https://plants.example.com/v1';
const page = referencePage(baseUrl);
const html = page['index.html'] ?? '';
const captures = (source: string, pattern: RegExp) => [...source.matchAll(pattern)].map(([, capture = '']) => capture);

test('changes only the servers in the contract', () => {
  const options = { intAsBigInt: true };
  const servers = [{ url: baseUrl }];
  expect(parse(String(page['openapi.yaml']), options)).toEqual({ ...parse(contract, options), servers });
});

test('contains a token only if there is one', () => {
  expect(html).toContain('data-token=""');
  const { 'index.html': htmlWithToken, ...others } = referencePage(baseUrl, 'plantstore_Shown');
  expect({ ...others, 'index.html': htmlWithToken?.replace('plantstore_Shown', '') }).toEqual(page);
});

test('has the contract’s title, loads only its own files without inline code, and calls only the API', () => {
  expect(html).toContain(`<title>${parse(contract).info.title}</title>`);
  const links = /(?:src=|href=|@import url\()"([^"]*)"/g;
  const loaded = captures(`${html}${page['page.css']}`, links).filter((link) => !link.startsWith('data:'));
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

/** Starts a server with the page. It responds to all other requests with "not the page". */
async function serve() {
  const server = createServer((message, response) => {
    if (!serveReferencePage(message, response, 'plantstore_Shown')) response.end('not the page');
  });
  onTestFinished(() => void server.close());
  const url = `http://${await listen(server)}`;
  return async (path: string, { method = 'GET', host = 'plants.test:81' } = {}) => {
    const [response] = await once(request(url + path, { method, headers: { host }, agent: false }).end(), 'response');
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };
}

test('serves each file with its media type and the host of the request, with any query', async () => {
  const get = await serve();
  const types: Record<string, string> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.yaml': 'application/yaml',
    '.txt': 'text/plain',
    '': 'text/plain',
  };
  const files = referencePage('http://plants.test:81', 'plantstore_Shown');
  for (const [name, content] of Object.entries(files)) {
    expect(await get(`/docs/${name}?v=1`), name).toMatchObject({
      status: 200,
      headers: { 'content-type': `${types[extname(name)]}; charset=utf-8`, 'cache-control': 'no-store' },
      text: content,
    });
  }
  expect((await get('/docs/')).text).toBe(files['index.html']);
  expect(await get('/docs')).toMatchObject({ status: 302, headers: { location: '/docs/' } });
});

test.each([
  ['/docs/', 'POST'],
  ['/docs', 'DELETE'],
  ['/docs/none', 'GET'],
  ['/docs/toString', 'GET'],
  ['/docs/index.html/', 'GET'],
  ['/docsx', 'GET'],
  ['/x/docs/', 'GET'],
  ['/', 'GET'],
])('passes $1 $0 to the API', async (path, method) => {
  expect(await (await serve())(path, { method })).toMatchObject({ status: 200, text: 'not the page' });
});
