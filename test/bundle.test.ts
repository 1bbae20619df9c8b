import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { localVariables } from '../tools/local/dynamodb.ts';
import { copyProject } from './support/project-copy.ts';
import { bundleWith, EVERYTHING } from './support/stack.ts';

const folder = bundleWith();
const content = readFileSync(join(folder, 'index.mjs'), 'utf8');
const withProvider = readFileSync(join(bundleWith(EVERYTHING), 'index.mjs'), 'utf8');

/**
 * The files in a bundle: esbuild writes a comment with the path before each. A pattern in the contract adds re2js, which
 * has 270 KB, and a method named `eval`, so it is left out.
 */
const filesOf = (bundle: string) =>
  bundle.split(/^\/\/ (?=(?:functions|node_modules)\/)/m).filter((file) => !file.startsWith('node_modules/re2js/'));
/** The size of the packages in a bundle. */
const packagesOf = (bundle: string) =>
  filesOf(bundle)
    .filter((file) => file.startsWith('node_modules/'))
    .join('').length;

test('a cold start loads one file with at most 62 KB of packages, and 100 KB with a provider; if it has more, find a smaller package', () => {
  expect(readdirSync(folder)).toEqual(['index.mjs']);
  // A minified bundle, whose stack traces nobody can read, has no such comments.
  expect(packagesOf(content)).toBeGreaterThan(50_000);
  expect(packagesOf(content)).toBeLessThanOrEqual(62_000);
  expect(packagesOf(withProvider)).toBeLessThanOrEqual(100_000);
});

test('has the same bytes from each clone, so that `cdk diff` shows which commit is live', async () => {
  const { directory } = copyProject();
  const clone = await import(/* @vite-ignore */ join(directory, 'test/support/stack.ts'));
  // The name of the folder contains the hash of its content.
  expect(basename(clone.bundleWith())).toBe(basename(folder));
});

test('contains no code generator, no SDK and, without an identity provider, no jose', () => {
  const unwanted = ['eval(', 'new Function', 'node_modules/@aws-sdk/', 'node_modules/jose/'];
  expect(unwanted.filter((text) => filesOf(content).join('').includes(text))).toEqual([]);
});

test('contains jose with an identity provider, and files of functions/ and of packages only', () => {
  expect(withProvider).toContain('node_modules/jose/');
  const files = withProvider.matchAll(/^ *\/\/ ([\w.-]+)\/\S+\.[cm]?[jt]s$/gm);
  expect(new Set([...files].map(([, folder]) => folder))).toEqual(new Set(['functions', 'node_modules']));
});

test('contains no package of devDependencies, which npm audit of the pipeline leaves out', () => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const bundled = Object.keys(devDependencies).filter((name) => withProvider.includes(`node_modules/${name}/`));
  expect(bundled).toEqual([]);
});

test('does not load undici, node:vm or web streams at init', () => {
  const script = `await import(${JSON.stringify(join(folder, 'index.mjs'))}); console.log(process.moduleLoadList.join('\\n'));`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    // Nothing listens on this port; the client is loaded anyway.
    env: localVariables('https://127.0.0.1:1'),
    encoding: 'utf8',
  });
  expect(loaded).toContain('NativeModule https');
  expect(loaded.match(/^.*(undici|NativeModule vm|webstreams).*$/gm)).toBeNull();
});
