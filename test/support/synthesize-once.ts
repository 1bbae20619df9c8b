import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../local/synthesize.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the cloud assembly that all tests share. */
    assembly: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  // The tests expect the default settings, whatever infra/stages.ts sets.
  process.env['IGNORE_STAGES'] = 'true';
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  project.provide('assembly', await synthesize(join(directory, 'cdk.out')));
  return () => rmSync(directory, { recursive: true });
}
