import { defineConfig } from 'vitest/config';

/** The tests that a change to the function must not get past, in one process a mutant. */
export default defineConfig({
  test: {
    // What a generated validator says is tested where it is generated.
    include: ['functions/**/*.test.ts', 'scripts/generate.test.ts'],
    globalSetup: 'test/support/synthesize-once.ts',
    provide: { engine: 'dynalite' },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
