import { execFileSync } from 'node:child_process';

/** Returns the commit of this clone, with " and local changes" if files differ. Undefined without git or a clone. */
export function commit(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    // A copy of the project inside of another clone would have the commit of that.
    if (git('rev-parse', '--show-prefix') !== 'infra/') return undefined;
    return git('rev-parse', 'HEAD') + (git('status', '--porcelain') && ' and local changes');
  } catch {
    return undefined;
  }
}
