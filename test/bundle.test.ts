import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { localVariables } from '../tools/local/dynamodb.ts';
import { bundleWith, EVERYTHING } from './support/stack.ts';

const folder = bundleWith();
const content = readFileSync(join(folder, 'index.mjs'));

test('is one file of at most 95 KB (24 KB zipped), which is not minified', () => {
  expect(readdirSync(folder)).toEqual(['index.mjs']);
  expect(content.length).toBeLessThanOrEqual(95_000);
  expect(gzipSync(content, { level: 9 }).length).toBeLessThanOrEqual(24_000);
  expect(content.toString()).toContain('// functions/middleware/bearer-auth.ts\n');
});

test('contains no code generator, no SDK and, without an identity provider, no jose', () => {
  const generators = ['sourceMappingURL', 'eval(', 'new Function', 'ajv/dist/compile'];
  const unwanted = [...generators, '@aws-sdk/', 'jose', 'jwt-verifier', '// infra/data'];
  expect(unwanted.filter((text) => content.includes(text))).toEqual([]);
});

test('contains jose with an identity provider', () => {
  const withProvider = readFileSync(join(bundleWith(EVERYTHING), 'index.mjs'));
  expect(withProvider.toString()).toContain('/jose/dist/');
  expect(withProvider.length).toBeLessThanOrEqual(140_000);
});

test('does not load undici, node:vm or web streams at init', () => {
  const script = `await import(${JSON.stringify(join(folder, 'index.mjs'))}); console.log(process.moduleLoadList.join('\\n'));`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    // Nothing listens on this port; the client is loaded anyway.
    env: localVariables('https://127.0.0.1:1'),
    encoding: 'utf8',
  });
  expect(loaded).toContain('NativeModule https');
  for (const unwanted of ['undici', 'NativeModule vm', 'webstreams']) expect(loaded).not.toContain(unwanted);
});
