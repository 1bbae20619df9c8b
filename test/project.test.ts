import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

/*
 * What must know each file or folder of the project. The slow tests have this file too, because a changed glob of the
 * fast tests could leave it out.
 */

const filesOf = (pattern: string) => globSync(pattern, { exclude: ['**/node_modules/**'] }).toSorted();
const run = (program: string, ...args: string[]) =>
  execFileSync(process.execPath, [`node_modules/.bin/${program}`, ...args], { encoding: 'utf8', env: {} });

test('Vitest runs each test file', () => {
  const listed = ['vitest.config.ts', 'test/slow.config.ts'].flatMap((config) => {
    const json: { file: string }[] = JSON.parse(run('vitest', 'list', '--filesOnly', '--json', '--config', config));
    return json.map(({ file }) => relative('', file));
  });
  expect(filesOf('**/*.test.ts').filter((file) => !listed.includes(file))).toEqual([]);
});

test('npm test and npm run test:slow check the types in each file', () => {
  const checked = ['.', 'test/browser'].flatMap((folder) => {
    const { files }: { files: string[] } = JSON.parse(run('tsc', '-p', folder, '--showConfig'));
    return files.map((file) => relative('', resolve(folder, file)));
  });
  expect(filesOf('**/*.ts').filter((file) => !checked.includes(file))).toEqual([]);
});

test.each(filesOf('**/package.json'))('%s has exact versions', (file) => {
  const { dependencies, devDependencies, overrides } = JSON.parse(readFileSync(file, 'utf8'));
  const versions = JSON.stringify([dependencies, devDependencies, overrides]);
  expect(versions.match(/(?<=":)"(?!\d+\.\d+\.\d+")[^"]*"/g)).toBeNull();
});
