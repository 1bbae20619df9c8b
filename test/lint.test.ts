import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const biome = resolve('node_modules/.bin/biome');

test.each([
  ['functions/new/new.ts', ['bench', 'circle', 'console.log', 'infra', 'infra/data', 'test', 'tools']],
  ['functions/new/new.test.ts', ['circle']],
  ['infra/new/new.ts', ['bench', 'circle', 'test', 'tools']],
  ['tools/new/new.ts', ['bench', 'circle', 'infra', 'test']],
])('the linter rejects in %s only %j', (file, rejected) => {
  const folders = ['functions', 'infra', 'infra/data', 'tools', 'test', 'bench'];
  const others = folders.filter((folder) => !file.startsWith(`${folder}/`));
  const lines = ["console.info('a');", "console.log('a');", "export type { A } from './circle.ts';"];
  lines.push(...others.map((folder) => `import '../../${folder}/other.ts';`));
  const copy = mkdtempSync(join(tmpdir(), 'lint-'));
  // Without .gitignore, Biome lints nothing.
  for (const name of ['biome.json', '.gitignore']) cpSync(name, join(copy, name));
  mkdirSync(join(copy, dirname(file)), { recursive: true });
  writeFileSync(join(copy, file), lines.join('\n'));
  writeFileSync(join(copy, dirname(file), 'circle.ts'), `export type { B } from './${basename(file)}';`);
  const { stdout } = spawnSync(biome, ['lint', '--reporter=github'], { cwd: copy, encoding: 'utf8' });
  const errors = [...stdout.matchAll(/^::error .*\/new[.\w]*,line=(\d+)/gm)];
  const subjects = ['console.info', 'console.log', 'circle', ...others];
  expect(errors.map(([, line]) => subjects[Number(line) - 1]).toSorted()).toEqual(rejected);
});
