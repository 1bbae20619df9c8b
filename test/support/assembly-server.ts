import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../tools/local/synthesize.ts';
import { listen } from './listen.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Responds with the folder of the cloud assembly. */
    assemblyUrl: string;
  }
}

/** Synthesizes the cloud assembly that all tests share, when the first of them needs it. */
export default async function setup(project: TestProject): Promise<() => void> {
  // The tests expect the default settings, whatever infra/stages.ts sets.
  process.env['IGNORE_STAGES'] = 'true';
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  // The temporary folders of all tests are in this one, which is deleted in the end.
  process.env['TMPDIR'] = directory;
  let assembly: Promise<string> | undefined;
  project.onTestsRerun(async () => {
    assembly = undefined;
  });
  const server = createServer((_, response) => {
    assembly ??= synthesize(join(directory, 'cdk.out'));
    assembly.then(
      (folder) => response.end(folder),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  project.provide('assemblyUrl', `http://${await listen(server)}`);
  return () => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 9 });
  };
}
