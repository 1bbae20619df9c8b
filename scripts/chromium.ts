import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, launch } from 'puppeteer-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Starts the Chromium that the variable CHROMIUM names, or else one of the PATH. It reaches this machine only: no other
 * host has an address. Throws a sentence where there is none.
 */
export function launchChromium(): Promise<Browser> {
  return launch({
    executablePath: process.env['CHROMIUM'] || onPath(),
    args: [
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      // As root it does not start otherwise; all that it opens here is the project's own page.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}

function onPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
  if (found === undefined) {
    throw new Error(`No Chromium is on the PATH (${NAMES.join(', ')}); install one, or set CHROMIUM to its path.`);
  }
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
