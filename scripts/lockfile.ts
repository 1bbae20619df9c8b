import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Takes the packages' `engines` out of package-lock.json. npm holds them against the Node.js that npm itself runs
 * on and knows no setting for another one, while all packages here run on the Node.js that the project brings: on
 * Node.js 20, `npm ci` warned 60 times of what is not so. The project's own `engines` stay, and those of packages
 * whose install scripts may run on the user's Node.js. `npm install` puts some back.
 */

export const lockfile = join(import.meta.dirname, '../package-lock.json');

interface Lockfile {
  packages: Record<string, { engines?: unknown; hasInstallScript?: boolean }>;
}

/** The text of a package-lock.json without what npm would warn of in vain. */
export function withoutEngines(text: string): string {
  const lock = JSON.parse(text) as Lockfile;
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path !== '' && !entry.hasInstallScript) delete entry.engines;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(lockfile, withoutEngines(readFileSync(lockfile, 'utf8')));
