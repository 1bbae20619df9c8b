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
  const files = diff(since, '--name-only', '--', '*.ts').split('\n').filter(Boolean);
  const tested = files.filter((file) => file.endsWith('.test.ts')).map((file) => file.replace('.test.ts', '.ts'));
  const whole = tested.filter((file) => existsSync(file)).map(allLines);
  const parts = files
    .filter((file) => existsSync(file) && !tested.includes(file))
    .flatMap((file) => hunks(since, file));
  return [...whole, ...parts].flatMap(inPieces);
}

export function allLines(file: string): Lines {
  return { file, first: 1, last: readFileSync(file, 'utf8').split('\n').length };
}

function hunks(since: string, file: string): Lines[] {
  return [...diff(since, '--unified=0', '--', file).matchAll(/^@@ .* \+(\d+)(?:,(\d+))? @@/gm)].map(
    ([, line, count = '1']) => {
      const first = Number(line);
      // Where lines are only taken away, those on both sides are what is changed.
      return { file, first, last: count === '0' ? first + 1 : first + Number(count) - 1 };
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

function diff(since: string, ...options: string[]): string {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', ['diff', '--no-renames', since, ...options], { encoding: 'utf8', stdio: [...stdio] });
  } catch {
    throw new Error(`--since was "${since}"; it must be a commit of this repository.`);
  }
}
