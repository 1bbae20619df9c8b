import { execFileSync } from 'node:child_process';

/** Returns the commit of this clone, with " and local changes" if files differ. Undefined without git or a clone. */
export function commit(): string | undefined {
  // By default, output of more than 1 MB is an error. Git prints a line for each file that differs.
  const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1e8 } as const;
  const git = (...args: string[]) => execFileSync('git', args, options).trim();
  try {
    // A copy of the project inside of another clone would have the commit of that.
    if (git('rev-parse', '--show-prefix') !== 'infra/') return undefined;
    // A person can configure git to hide new files.
    const changes = git('status', '--porcelain', '--untracked-files=normal');
    return git('rev-parse', 'HEAD') + (changes && ' and local changes');
  } catch {
    return undefined;
  }
}
