import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** True in `npx stryker run`, which sets this variable. It mutates functions/, and runs only its tests. */
const isMutated = process.env['STRYKER_MUTATOR_WORKER'] !== undefined;

/** The tests that run on both DynamoDB engines: what is stored and read, its limits, and each operation. */
const BOTH_ENGINES = ['{functions/**/{dynamodb-values,create-plant,tokens-table},tools/token,test/events}.test.ts'];

// Each worker loads the SDK and CDK; the cache saves compiling them again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

const project = (name: string, include: string[], options = {}) => ({
  extends: true as const,
  test: { name, include, ...options },
});

export default defineConfig({
  test: {
    // Only for tests that hang: long enough for a machine with a third of the speed.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxConcurrency: 8,
    // Tests mostly wait; Vitest's default would leave one of two cores idle.
    maxWorkers: 3,
    globalSetup: 'test/support/temporary-folder.ts',
    // CDK's own rules take half of the synthesis time; infra/app.test.ts tests with them.
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    // Loading the SDK or CDK takes longer than most files. Stryker needs modules that are loaded for each mutant.
    isolate: isMutated,
    setupFiles: 'test/support/clean-up.ts',
    ...(isMutated
      ? // The second one tests the generated validators.
        { include: ['functions/**/*.test.ts', 'tools/generate/generate.test.ts'] }
      : {
          projects: [
            project('dynalite', ['{functions,tools}/**/*.test.ts', 'test/*.test.ts']),
            // The files change nothing in their process, and share the templates.
            project('infra', ['infra/**/*.test.ts'], { setupFiles: [] }),
            project('local-run', ['test/local-run/*.test.ts']),
            project('dynamodb-local', BOTH_ENGINES, { provide: { engine: 'DynamoDB Local' } }),
            project('runtime', ['test/runtime/*.test.ts']),
            project('browser', ['test/browser/*.test.ts']),
            project('added-operations', ['test/added-operations/*.test.ts'], { testTimeout: 900_000 }),
          ],
        }),
  },
});
