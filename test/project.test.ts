import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

/*
 * Each test is run, each TypeScript file is compiled, and each version is exact. The slow tests have this file too, because a changed glob of the
 * fast tests could leave it out.
 */

const filesOf = (pattern: string) => globSync(pattern, { exclude: ['**/node_modules/**'] }).toSorted();
const run = (program: string, ...args: string[]) =>
  execFileSync(process.execPath, [`node_modules/.bin/${program}`, ...args], { encoding: 'utf8', env: {} });

const listed = ['vitest.config.ts', 'test/slow.config.ts'].flatMap((config) => {
  const json = run('vitest', 'list', '--filesOnly', '--json', '--config', config);
  const files: { file: string; projectName: string }[] = JSON.parse(json);
  return files.map(({ file, projectName }) => ({ file: relative('', file), projectName }));
});

test('Vitest runs each test file', () => {
  const files = listed.map(({ file }) => file);
  expect(filesOf('**/*.test.ts').filter((file) => !files.includes(file))).toEqual([]);
});

test('the tests of the function and of the commands that use stored items run on both engines', () => {
  const both = listed.filter(({ projectName }) => projectName === 'dynamodb-local').map(({ file }) => file);
  const others = filesOf('{functions,tools}/**/*.test.ts').filter((file) => !both.includes(file));
  expect(others.filter((file) => /\bengine\.\w+\(/.test(readFileSync(file, 'utf8')))).toEqual([]);
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
