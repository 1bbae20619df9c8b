import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../local/synthesize.ts';
import * as replacements from './node-builtins.ts';
import { esbuildOptions } from './trimmings.ts';

const { alias, define } = esbuildOptions();
const replaced = Object.keys(alias).filter((name) => name.startsWith('node:'));

const importOf = (name: string, module: string) => `import { ${name} } from '${module}';`;

/** What a module has that the bundle has not, or not unchanged. */
function missing(module: string): string[] {
  const original = new Map<string, unknown>(Object.entries(process.getBuiltinModule(module) ?? {}));
  const kept = new Map(Object.entries(replacements).filter(([name, value]) => value && value === original.get(name)));
  return [...original.keys()].filter((name) => /^\w+$/.test(name) && !kept.has(name));
}

const whatNoFunctionMayUse = [
  ...replaced.map((module) => ({
    what: `import of ${module} what the bundle has not, or not unchanged`,
    file: `functions/shared/${module.replaceAll(/\W/g, '-')}.ts`,
    lines: [
      ...missing(module).map((name) => importOf(name, module)),
      `import whole from '${module}';`,
      `import * as all from '${module}';`,
    ],
  })),
  ...Object.keys(define).map((name) => ({
    what: `use the global ${name}`,
    file: `functions/new-operation/${name}.ts`,
    lines: [`console.log(typeof ${name});`, `console.log(new ${name}());`],
  })),
];

const others = (all: string[], some: string[]) => all.filter((one) => !some.includes(one));

const allOfNode = [...replaced.map((module) => importOf('x', module)), 'crypto.randomUUID();'];
const whatMayBeUsed = [
  {
    what: 'a function may use what the bundle has, or does not replace',
    file: 'functions/shared/new.ts',
    lines: [
      ...['createHash', 'createHmac', 'hash'].map((name) => importOf(name, 'node:crypto')),
      ...others(
        builtinModules.map((name) => `node:${name.replace('node:', '')}`),
        replaced,
      ).map((module) => importOf('x', module)),
      ...others(Object.getOwnPropertyNames(globalThis), Object.keys(define)).map(
        (name) => `console.log(typeof ${name});`,
      ),
      "process.getBuiltinModule('node:zlib');",
      'globalThis.crypto.randomUUID();',
    ],
  },
  ...['functions/shared/new.test.ts', 'functions/operations.ts', 'infra/new.ts'].map((file) => ({
    what: `what is not bundled may use all of Node.js: ${file}`,
    file,
    lines: allOfNode,
  })),
];

/** The lines that the linter refuses by a rule about imports or globals, by their file. */
function refusedLines(files: { file: string; lines: string[] }[]): Map<string, string[]> {
  const copy = mkdtempSync(join(tmpdir(), 'plant-store-linter-'));
  cpSync(join(projectRoot, 'biome.json'), join(copy, 'biome.json'));
  for (const { file, lines } of files) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    writeFileSync(join(copy, file), lines.join('\n'));
  }
  const biome = join(projectRoot, 'node_modules/.bin/biome');
  const options = ['--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json'];
  const { stdout } = spawnSync(biome, ['lint', ...options], { cwd: copy, encoding: 'utf8' });
  rmSync(copy, { recursive: true });
  const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(stdout);
  const refused = diagnostics.filter(({ category }) => category.startsWith('lint/style/noRestricted'));
  return new Map(
    files.map(({ file, lines }) => {
      const numbers = refused
        .filter(({ location }) => location.path === file)
        .map(({ location }) => location.start.line);
      return [file, lines.filter((_, index) => numbers.includes(index + 1))];
    }),
  );
}

interface Diagnostic {
  category: string;
  location: { path: string; start: { line: number } };
}

const refused = refusedLines([...whatNoFunctionMayUse, ...whatMayBeUsed]);

test.each(whatNoFunctionMayUse)('no function may $what', ({ file, lines }) => {
  expect(refused.get(file)).toEqual(lines);
});

test.each(whatMayBeUsed)('$what', ({ file }) => {
  expect(refused.get(file)).toEqual([]);
});
