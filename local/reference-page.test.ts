import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { referencePage } from './reference-page.ts';
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

test('only the page’s own files are loaded, no script or style stands in it, and only the API can be called', () => {
  const loaded = captures(html, /(?:src|href)="([^"]*)"/g).filter((link) => !link.startsWith('data:'));
  expect(loaded).toEqual(expect.arrayContaining(['page.js', 'page.css', 'swagger-ui-bundle.js', 'swagger-ui.css']));
  for (const name of loaded) expect(page).toHaveProperty([name]);
  expect(html).not.toMatch(/<script(?! src=)|<style|\sstyle=|\son\w+=/);
  const [policy = ''] = captures(html, /Content-Security-Policy" content="([^"]*)"/g);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).toContain("connect-src 'self' https://plants.example.com;");
  expect(policy).not.toContain('unsafe');
});

test('a browser’s tools are sent after no file that is not there', () => {
  for (const text of Object.values(page)) expect(text.slice(-200)).not.toContain('sourceMappingURL');
});

test('the title is the contract’s, whatever stands in it', () => {
  const files = referencePage('info: { title: "</title><script>&" }', { baseUrl });
  expect(files['index.html']).toContain('<title>&#60;/title&#62;&#60;script&#62;&#38;</title>');
});
