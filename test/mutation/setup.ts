import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import { afterAll, inject } from 'vitest';

/* Makes a mutant known to the processes and threads that a test starts: Stryker tells only the test's own. */

// Stryker provides it, and declares it nowhere.
const mutant = (inject as (key: string) => string | undefined)('activeMutant');
if (mutant !== undefined) {
  process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant;
  // A worker of the local run has an environment of its own, which the tests look at.
  const activate = `data:text/javascript,globalThis.__stryker__ = { activeMutant: '${mutant}' }`;
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(file: string | URL, options: workerThreads.WorkerOptions) {
      super(file, { ...options, execArgv: [...process.execArgv, '--import', activate] });
    }
  };
  syncBuiltinESMExports();
}

// Where there is any, Stryker runs a mutant by the tests alone that reach it in this process, `off` or not, and one that
// is reached in another process by none.
if (process.env['MUTATION_COVERAGE'] === 'off') {
  afterAll(() => {
    delete (globalThis as { __stryker__?: { mutantCoverage?: unknown } }).__stryker__?.mutantCoverage;
  });
}
