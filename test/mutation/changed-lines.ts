import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Lines of a file that stand together, counted from 1, both ends included. */
export interface Lines {
  file: string;
  first: number;
  last: number;
}

/** No more lines than these stand together, so that a sample of a long file has some of all of it. */
const MAX_TOGETHER = 10;

/**
 * The lines of TypeScript files that are changed since a commit, in the working tree too. A changed test counts as all
 * of the file that it stands beside, of which it may notice less than before. Throws a sentence where there is no such
 * commit.
 */
export function changedLines(since: string): Lines[] {
  const paths = ['--', '*.ts', '*.mts'];
  // A diff has none of the files that were never added.
  const added = listed(git(since, 'ls-files', '--others', '--exclude-standard', ...paths));
  const files = [...listed(diff(since, '--name-only', ...paths)), ...added];
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  const tested = tests.flatMap((file) => ['.ts', '.mts'].map((ending) => file.replace('.test.ts', ending)));
  const whole = [...new Set([...tested, ...added])].filter((file) => existsSync(file));
  const parts = files.filter((file) => existsSync(file) && !whole.includes(file));
  return [...whole.map(allLines), ...parts.flatMap((file) => hunks(since, file))].flatMap(inPieces);
}

export function allLines(file: string): Lines {
  return { file, first: 1, last: readFileSync(file, 'utf8').split('\n').length };
}

function hunks(since: string, file: string): Lines[] {
  return [...diff(since, '--unified=0', '--', file).matchAll(/^@@ .* \+(\d+)(?:,(\d+))? @@/gm)].map(
    ([, line, count = '1']) => {
      const first = Number(line);
      // Where lines are only taken away, those on both sides are what is changed; there is none before the first.
      return count === '0'
        ? { file, first: Math.max(1, first), last: first + 1 }
        : { file, first, last: first + Number(count) - 1 };
    },
  );
}

function inPieces({ file, first, last }: Lines): Lines[] {
  const pieces: Lines[] = [];
  for (let line = first; line <= last; line += MAX_TOGETHER) {
    pieces.push({ file, first: line, last: Math.min(last, line + MAX_TOGETHER - 1) });
  }
  return pieces;
}

/** Reads the same whatever the user's settings of git are. */
function diff(since: string, ...options: string[]): string {
  return git(since, 'diff', '--no-renames', '--no-color', '--no-ext-diff', since, ...options);
}

function git(since: string, ...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    throw new Error(`--since was "${since}"; it must be a commit of this repository.`);
  }
}

function listed(files: string): string[] {
  return files.split('\n').filter(Boolean);
}
