import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, test } from 'vitest';

/* The slow tests have this file too, because a changed glob of the fast tests could leave it out. */

test('Vitest runs each test file', () => {
  const listed = ['vitest.config.ts', 'test/slow.config.ts'].flatMap((config) => {
    const args = ['node_modules/.bin/vitest', 'list', '--filesOnly', '--json', '--config', config];
    const files: { file: string }[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env: {} }));
    return files.map(({ file }) => relative('', file));
  });
  expect(
    globSync('**/*.test.ts', { exclude: ['**/node_modules/**'] }).filter((file) => !listed.includes(file)),
  ).toEqual([]);
});
