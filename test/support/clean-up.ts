import { afterAll, inject, vi } from 'vitest';

/* Undoes what a test file changed in its process: the files of a worker share it, because loading the SDK takes long. */

process.env['NODE_COMPILE_CACHE'] = inject('compileCache');
const variables = { ...process.env };

afterAll(() => {
  vi.useRealTimers();
  // The next file loads the project's modules again, but not those of packages.
  vi.resetModules();
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
});
