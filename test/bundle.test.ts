import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { grantedOperations } from '../infra/grants.ts';
import { localVariables } from '../tools/local/environment.ts';
import { bundlesWith } from './support/stack.ts';

const bundles = bundlesWith({});
const bundlesWithProvider = bundlesWith({
  identityProvider: { issuer: 'https://id.example.com', audiences: ['plants'] },
});

/** Loads a bundle in a process of its own. Returns the value of an expression, in which `bundle` is the module. */
function load(folder: string, expression: string): string {
  const script = `const bundle = await import(${JSON.stringify(join(folder, 'index.mjs'))}); console.log(${expression});`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    // Nothing listens on this port; the client is loaded anyway.
    env: localVariables('https://127.0.0.1:1'),
    encoding: 'utf8',
  }).trim();
}

describe.each(grantedOperations())('the bundle of $operationId', (operation) => {
  const folder = bundles.ofFunction(operation);
  const content = readFileSync(join(folder, 'index.mjs'));

  test('is one file of at most 125 KB (31 KB zipped), which is not minified', () => {
    expect(readdirSync(folder)).toEqual(['index.mjs']);
    expect(content.length).toBeLessThanOrEqual(125_000);
    expect(gzipSync(content, { level: 9 }).length).toBeLessThanOrEqual(31_000);
    expect(content.toString()).toContain('// functions/middleware/bearer-auth.ts\n');
  });

  test('contains no code generator, no SDK and, without an identity provider, no jose', () => {
    const unwanted = [
      'sourceMappingURL',
      'eval(',
      'new Function',
      'ajv/dist',
      '@aws-sdk/',
      'jose',
      'jwt-verifier',
      '// infra/data',
    ];
    expect(unwanted.filter((text) => content.includes(text))).toEqual([]);
    const withProvider = readFileSync(join(bundlesWithProvider.ofFunction(operation), 'index.mjs'));
    expect(withProvider.toString()).toContain('/jose/dist/');
    expect(withProvider.length).toBeLessThanOrEqual(172_000);
  });

  test('does not load undici, node:vm or web streams at init', () => {
    const loaded = load(folder, "process.moduleLoadList.join('\\n')");
    expect(loaded).toContain('NativeModule https');
    for (const unwanted of ['undici', 'NativeModule vm', 'webstreams']) expect(loaded).not.toContain(unwanted);
  });
});
