import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{functions,infra,local,tokens,test}/**/*.test.ts'],
    globalSetup: 'test/support/synthesize-once.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
