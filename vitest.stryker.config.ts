import { defineConfig } from 'vitest/config';

/** One project with the tests of a folder, from which Stryker runs those that reach a mutant. */
export default defineConfig({
  test: {
    include: [
      `${process.env['MUTATION_FOLDER'] ?? 'functions'}/**/*.test.ts`,
      // Generated validators are tested where they are generated.
      'contract/generate.test.ts',
    ],
    globalSetup: 'test/support/synthesize-once.ts',
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
