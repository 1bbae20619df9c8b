import { defineConfig } from 'vitest/config';

/** The tests of a part, in one process a mutant. */
export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]'),
    // CDK is loaded once for all tests of infra/, as in `npm test`.
    isolate: process.env['MUTATION_PART'] !== 'infra',
    setupFiles: 'test/mutation/setup.ts',
    globalSetup: 'test/support/synthesize-once.ts',
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
