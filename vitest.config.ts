import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Each worker loads the SDK and CDK; the cache saves compiling them again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

/** The tests of the function come first, so that a wrong function fails before test/bundle.test.ts says its size. */
const project = (groupOrder: number, name: string, include: string[]) => ({
  extends: true as const,
  test: { name, include, sequence: { groupOrder } },
});

/** The fast tests. The slow ones have test/slow.config.ts. */
export default defineConfig({
  test: {
    projects: [
      project(1, 'functions', ['functions/**/*.test.ts']),
      project(2, 'others', ['{infra,tools}/**/*.test.ts', 'test/*.test.ts']),
    ],
    // To repeat a failure: SHUFFLE=1 npx vitest run --sequence.seed=SEED
    sequence: { shuffle: process.env['SHUFFLE'] !== undefined },
    // The first line of a failure shows both values, not only their length.
    chaiConfig: { truncateThreshold: 2000 },
    // Logs of tests that pass would hide the failures.
    silent: 'passed-only',
    // Only for tests that hang. A synthesis of the stack can take a minute on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Tests mostly wait; Vitest's default would leave one of two cores idle.
    maxWorkers: 3,
    globalSetup: 'test/support/temporary-folder.ts',
    // CDK's own rules take half of the synthesis time; infra/app.test.ts tests with them.
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
  },
});
