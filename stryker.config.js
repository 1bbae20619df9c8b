/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['functions/**/*.{ts,mts}', '!**/*.{test,generated,d}.ts'],
  testFiles: ['functions/**/*.test.ts'],
  // The percentage of mutants that the tests must notice.
  thresholds: { high: 100, low: 95, break: Number(process.env['MUTATION_BREAK'] ?? 95) },
  testRunner: 'vitest',
  // CDK's bundling and autocannon do not work in threads.
  vitest: { configFile: 'vitest.stryker.config.ts', pool: 'forks' },
  coverageAnalysis: 'perTest',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  ignorePatterns: ['cdk.out', '.local', 'bench/node_modules', 'test/runtime/node_modules'],
  tempDirName: '.local/stryker',
  // Stryker would read it with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  disableTypeChecks: false,
};
