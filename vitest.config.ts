import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The folder that Stryker mutates (stryker.config.js). */
const mutated = process.env['MUTATION_FOLDER'];

/** The tests that run on both DynamoDB engines. */
const BOTH_ENGINES = [
  'functions/**/{bearer-auth,create-plant,dynamodb-values,index,tokens-table}.test.ts',
  'cli/token.test.ts',
  'test/events.test.ts',
];
/** Tests that run the commands in processes of their own. */
const COMMANDS = ['test/{local-run,rename}.test.ts'];
const OWN_PROJECT = [...COMMANDS, 'test/{runtime,added-operations,browser}/**'];

// Each test file loads the SDK and CDK in its own process; the cache saves compiling them again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

const project = (name: string, include: string[], options = {}) => ({
  extends: true as const,
  test: { name, include, ...options },
});
/** Projects with a higher number start after all projects with a lower one have ended. */
const order = (groupOrder: number) => ({ sequence: { groupOrder } });

export default defineConfig({
  test: {
    // Only for tests that hang: long enough for a machine with a third of the speed.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxConcurrency: 8,
    // Tests mostly wait; Vitest's default would leave one of two cores idle.
    maxWorkers: 3,
    globalSetup: 'test/support/assembly-server.ts',
    // CDK's own rules take half of the synthesis time; infra/app.test.ts tests with them.
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    isolate: Boolean(mutated),
    setupFiles: 'test/support/clean-up.ts',
    ...(mutated
      ? // contract/generate.test.ts tests the generated validators.
        { include: [`${mutated}/**/*.test.ts`, 'contract/generate.test.ts'], exclude: COMMANDS }
      : {
          projects: [
            project('dynalite', ['{checks,cli,contract,functions,local,test}/**/*.test.ts'], {
              exclude: OWN_PROJECT,
            }),
            // The tests only read. Isolated files would load CDK again, a third of the time.
            project('infra', ['infra/**/*.test.ts'], { setupFiles: [] }),
            project('local-run', COMMANDS),
            project('dynamodb-local', BOTH_ENGINES, { provide: { engine: 'DynamoDB Local' } }),
            project('runtime', ['test/runtime/*.test.ts'], order(1)),
            project('browser', ['test/browser/*.test.ts'], order(1)),
            // Runs other Vitest projects in a copy of the project.
            project('added-operations', ['test/added-operations/*.test.ts'], { testTimeout: 900_000, ...order(2) }),
          ],
        }),
  },
});
