import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';

/* Undoes what a test file changed in its process: the files of a worker share it, because loading the SDK takes long. */

// The cache of code in temporary folders. No later run can use it, so it is deleted with them.
process.env['NODE_COMPILE_CACHE'] = join(tmpdir(), 'node');
const variables = { ...process.env };

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  // The next file loads the project's modules again, but not those of packages.
  vi.resetModules();
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
});
