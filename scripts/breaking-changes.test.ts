import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runHere } from '../test/support/tool.ts';

const contract = readFileSync(join(import.meta.dirname, '../openapi.yaml'), 'utf8');
const root = process.cwd();
const repository = mkdtempSync(join(tmpdir(), 'breaking-changes-'));

beforeAll(() => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args]);
  process.chdir(repository);
  git('init', '--quiet');
  writeFileSync('openapi.yaml', contract);
  git('add', '.');
  git('commit', '--quiet', '--message', 'x', '--no-gpg-sign');
});
afterAll(() => {
  process.chdir(root);
  rmSync(repository, { recursive: true });
});

/** With another text of the contract in the working tree. */
function run(after: string, ...args: string[]) {
  writeFileSync('openapi.yaml', after);
  vi.resetModules();
  return runHere(args, () => import('./breaking-changes.ts'));
}

test('names each change, and ends with exit status 1 where one may break callers', async () => {
  const after = contract.replace('version: 1.0.0', 'version: 2.0.0').replace('    post:', '    put:');
  expect(await run(after, '--since', 'HEAD')).toEqual({
    code: 1,
    stdout: [
      'harmless   replace info > version',
      'MAY BREAK  remove paths > /plants > post',
      'harmless   add paths > /plants > put\n',
    ].join('\n'),
    stderr: '1 of 3 changes may break callers.\n',
  });
});

test.each([
  [
    'no caller breaks',
    contract.replace('version: 1.0.0', 'version: 1.0.1'),
    'harmless   replace info > version\nNo caller breaks.\n',
  ],
  ['nothing has changed', `${contract}# A comment.\n`, 'Nothing that openapi.yaml says has changed since HEAD.\n'],
])('says where %s', async (_, after, stdout) => {
  expect(await run(after, '--since', 'HEAD')).toEqual({ code: 0, stdout, stderr: '' });
});

test.each([
  ['--since is missing; it must be a commit of this repository.', []],
  ['--since was "v9"; it must be a commit of this repository.', ['--since', 'v9']],
])('refuses its arguments with: %s', async (sentence, args) => {
  const { code, stderr } = await run(contract, ...args);
  expect(stderr.split('\n\n')[0]).toBe(sentence);
  expect(code).toBe(1);
});
