import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../local/synthesize.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the cloud assembly that the whole run tests. */
    assembly: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  // For all that the tests run: they are about the stack as it is by default, whatever a user's stages have.
  process.env['IGNORE_STAGES'] = 'true';
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  project.provide('assembly', await synthesize(join(directory, 'cdk.out')));
  return () => rmSync(directory, { recursive: true });
}
