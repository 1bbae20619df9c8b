import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the commit is that of the clone, says if files differ from it, and exists only in a clone', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'clone-'));
  const commitIn = async (folder: string) => {
    cpSync(join(import.meta.dirname, 'commit.ts'), join(folder, 'infra/commit.ts'));
    return (await import(/* @vite-ignore */ join(folder, 'infra/commit.ts'))).commit();
  };
  // Without the settings of the person, who may sign commits.
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: clone, encoding: 'utf8', env }).trim();
  expect(await commitIn(clone)).toBeUndefined();
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--quiet', '--message', 'x');
  const head = git('rev-parse', 'HEAD');
  expect(await commitIn(clone)).toBe(head);
  git('config', 'status.showUntrackedFiles', 'no');
  writeFileSync(join(clone, 'new'), '');
  expect(await commitIn(clone)).toBe(`${head} and local changes`);
  expect(await commitIn(join(clone, 'copy'))).toBeUndefined();
});
