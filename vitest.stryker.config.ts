import { defineConfig } from 'vitest/config';

/** The tests that Stryker runs, in one project: of these, those that reach a mutant. */
export default defineConfig({
  test: {
    include: ['{contract,functions,infra,local,operate,scripts}/**/*.test.ts'],
    exclude: ['local/{invoke,start,synthesize}.test.ts', 'infra/cdk-rules.test.ts'],
    globalSetup: 'test/support/synthesize-once.ts',
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
