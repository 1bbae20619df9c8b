import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changedLines, type Lines } from './changed-lines.ts';

const root = process.cwd();
const repository = mkdtempSync(join(tmpdir(), 'plant-store-changed-'));
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

function write(file: string, content: string[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${content.join('\n')}\n`);
}

function git(...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], { stdio: 'ignore' });
}

beforeAll(() => {
  process.chdir(repository);
  git('init');
  for (const file of ['a.ts', 'in/b.ts', 'in/b.test.ts', 'alone.test.ts', 'a.md']) write(file, lines(12));
  git('add', '.');
  git('commit', '--message', 'x', '--no-gpg-sign');
});
beforeEach(() => git('reset', '--hard'));
afterAll(() => {
  process.chdir(root);
  rmSync(repository, { recursive: true });
});

/** All lines of these places, as FILE:LINE. */
function each(places: Lines[]): string[] {
  return places.flatMap(({ file, first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => `${file}:${first + index}`),
  );
}

test.each<[string, string[], string[]]>([
  ['nothing', lines(12), []],
  ['lines that are changed', lines(12).with(1, 'x').with(10, 'x').with(11, 'x'), ['a.ts:2', 'a.ts:11', 'a.ts:12']],
  ['lines that are added', lines(12).toSpliced(4, 0, 'x', 'y'), ['a.ts:5', 'a.ts:6']],
  ['lines around those that are taken away', lines(12).toSpliced(4, 2), ['a.ts:4', 'a.ts:5']],
  ['the line after the first ones that are taken away', lines(12).slice(2), ['a.ts:1']],
])('of a file they are %s', (_, content, expected) => {
  write('a.ts', content);
  expect(each(changedLines('HEAD'))).toEqual(expected);
});

test('what is committed since counts as what is not yet, and a new file is changed as a whole', () => {
  write('a.ts', lines(12).with(1, 'x'));
  git('commit', '--all', '--message', 'x', '--no-gpg-sign');
  write('a.ts', lines(12).with(1, 'x').with(3, 'x'));
  write('new.ts', lines(2));
  try {
    expect(each(changedLines('HEAD~1')).toSorted()).toEqual(['a.ts:2', 'a.ts:4', 'new.ts:1', 'new.ts:2', 'new.ts:3']);
  } finally {
    rmSync('new.ts');
    git('reset', '--hard', 'HEAD~1');
  }
});

test('a changed test counts as all of the file that it stands beside, in pieces of at most ten lines', () => {
  write('in/b.test.ts', lines(12).with(1, 'x'));
  write('in/b.ts', lines(25).with(1, 'x'));
  const places = changedLines('HEAD').filter(({ file }) => file === 'in/b.ts');
  expect(new Set(each(places)).size).toBe(each(places).length);
  expect(each(places)).toEqual(expect.arrayContaining(lines(25).map((_, index) => `in/b.ts:${index + 1}`)));
  for (const { first, last } of places) expect(last - first).toBeLessThan(10);
});

test('what is gone, is no TypeScript, or is a test of no file beside it has no lines to mutate', () => {
  rmSync('a.ts');
  rmSync('in/b.test.ts');
  rmSync('in/b.ts');
  write('a.md', ['x']);
  write('alone.test.ts', lines(12).with(1, 'x'));
  expect(changedLines('HEAD').filter(({ file }) => !file.endsWith('.test.ts'))).toEqual([]);
});

test('the removal of a test counts as a change of it', () => {
  rmSync('in/b.test.ts');
  expect(each(changedLines('HEAD'))).toEqual(expect.arrayContaining(['in/b.ts:1', 'in/b.ts:12']));
});

test('the settings of git change nothing', () => {
  git('config', 'color.ui', 'always');
  write('a.ts', lines(12).with(1, 'x'));
  expect(each(changedLines('HEAD'))).toEqual(['a.ts:2']);
});

test.each(['nothing', '', 'a.ts'])('"%s", which is no commit, is refused with a sentence', (since) => {
  expect(() => changedLines(since)).toThrow(`--since was "${since}"; it must be a commit of this repository.`);
});
