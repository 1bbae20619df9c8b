import { execFileSync } from 'node:child_process';

/** The longest output of git. Each changed file is a line. */
const MAX_BYTES = 100_000_000;

/** Returns the commit of this clone, with " and local changes" if files differ. Undefined without git or a clone. */
export function commit(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: MAX_BYTES,
    }).trim();
  try {
    // A copy of the project inside of another clone would have the commit of that.
    if (git('rev-parse', '--show-prefix') !== 'infra/') return undefined;
    // A person can configure git not to report new files.
    return (
      git('rev-parse', 'HEAD') + (git('status', '--porcelain', '--untracked-files=normal') && ' and local changes')
    );
  } catch {
    return undefined;
  }
}
