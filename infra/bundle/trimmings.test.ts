import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../local/synthesize.ts';
import * as replacements from './node-builtins.ts';
import { esbuildOptions } from './trimmings.ts';

const { alias, define } = esbuildOptions();
const replaced = Object.keys(alias).filter((name) => name.startsWith('node:'));

/** The lines of a file that the linter refuses by a rule about imports or globals. */
function refused(file: string, lines: string[]): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'plant-store-linter-'));
  cpSync(join(projectRoot, 'biome.json'), join(copy, 'biome.json'));
  mkdirSync(join(copy, dirname(file)), { recursive: true });
  writeFileSync(join(copy, file), lines.join('\n'));
  const biome = join(projectRoot, 'node_modules/.bin/biome');
  const options = ['--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json'];
  const { stdout } = spawnSync(biome, ['lint', ...options], { cwd: copy, encoding: 'utf8' });
  rmSync(copy, { recursive: true });
  const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(stdout);
  const numbers = diagnostics
    .filter(({ category }) => category.startsWith('lint/style/noRestricted'))
    .map(({ location }) => location.start.line);
  return lines.filter((_, index) => numbers.includes(index + 1));
}

interface Diagnostic {
  category: string;
  location: { start: { line: number } };
}

const importOf = (name: string, module: string) => `import { ${name} } from '${module}';`;

test.each(replaced)('a function may import of %s only what the bundle has of it, unchanged', (module) => {
  const original = new Map<string, unknown>(Object.entries(process.getBuiltinModule(module) ?? {}));
  const kept = new Map(Object.entries(replacements).filter(([name, value]) => value && value === original.get(name)));
  const others = [...original.keys()].filter((name) => /^\w+$/.test(name) && !kept.has(name));
  const lines = [
    ...others.map((name) => importOf(name, module)),
    `import whole from '${module}';`,
    `import * as all from '${module}';`,
  ];
  expect(others).not.toEqual([]);
  expect(refused('functions/shared/new.ts', lines)).toEqual(lines);
});

test.each(Object.keys(define))('a function may not use the global %s', (name) => {
  const lines = [`console.log(typeof ${name});`, `console.log(new ${name}());`];
  expect(refused('functions/new-operation/index.ts', lines)).toEqual(lines);
});

test('what the bundle has, or does not replace, is for any function', () => {
  const lines = [
    ...['createHash', 'createHmac', 'hash'].map((name) => importOf(name, 'node:crypto')),
    importOf('Readable', 'node:stream'),
    "process.getBuiltinModule('node:zlib');",
    'globalThis.crypto.randomUUID();',
  ];
  expect(refused('functions/shared/new.ts', lines)).toEqual([]);
});

test.each(['functions/shared/new.test.ts', 'functions/operations.ts', 'infra/new.ts'])(
  'what is not bundled may use all of Node.js: %s',
  (file) => {
    expect(refused(file, [...replaced.map((module) => importOf('x', module)), 'crypto.randomUUID();'])).toEqual([]);
  },
);
