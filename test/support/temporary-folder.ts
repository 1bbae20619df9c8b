import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder for the temporary folders of all tests, and deletes it in the end. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  process.env['TMPDIR'] = directory;
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 9 });
}
