import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The folder that Stryker mutates; see stryker.config.js. */
const mutated = process.env['MUTATION_FOLDER'];

/** What holds of the service on any DynamoDB, run on both engines. */
const BOTH_ENGINES = [
  'functions/**/{attribute-value,bearer-auth,create-plant,index,tokens-table}.test.ts',
  'cli/token.test.ts',
  'test/{events,races}.test.ts',
];
/** Commands as a user runs them: a process and a synthesis each. */
const COMMANDS = ['test/local-run.test.ts'];
const OWN_PROJECT = [...COMMANDS, 'test/{runtime,second-operation,browser}/**'];

// Compiles the SDK and CDK once for all test files, each of which loads them in a process of its own.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

const project = (name: string, include: string[], options = {}) => ({
  extends: true as const,
  test: { name, include, ...options },
});
/** Projects with a higher number start when all with a lower one have ended. */
const order = (groupOrder: number) => ({ sequence: { groupOrder } });

export default defineConfig({
  test: {
    // These end what hangs, also on a machine that has a third of its speed.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxConcurrency: 8,
    // Most of a test is waiting; Vitest's own default leaves one core of two idle.
    maxWorkers: 3,
    globalSetup: 'test/support/synthesize-once.ts',
    setupFiles: 'test/support/property-runs.ts',
    // CDK's own rules take half of a synthesis; the test that is about them turns them on.
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    ...(mutated
      ? // Generated validators are tested where they are generated.
        { include: [`${mutated}/**/*.test.ts`, 'contract/generate.test.ts'], exclude: COMMANDS }
      : {
          projects: [
            project('dynalite', ['{checks,cli,contract,functions,local,test}/**/*.test.ts'], {
              exclude: OWN_PROJECT,
            }),
            // Only reads; to load CDK for each file would take a third of its time.
            project('infra', ['infra/**/*.test.ts'], { isolate: false }),
            project('local-run', COMMANDS),
            project('dynamodb-local', BOTH_ENGINES, { provide: { engine: 'DynamoDB Local' } }),
            project('runtime', ['test/runtime/*.test.ts'], order(1)),
            project('browser', ['test/browser/*.test.ts'], order(1)),
            // Runs other projects, whole, in a copy of the project.
            project('second-operation', ['test/second-operation/*.test.ts'], { testTimeout: 900_000, ...order(2) }),
          ],
        }),
  },
});
