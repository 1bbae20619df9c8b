/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['functions/**/*.ts', '!**/*.{test,generated,d}.ts'],
  testRunner: 'vitest',
  // CDK's bundling fails in threads. `testFiles` is not set, because Stryker 10.1.1 would then activate a mutant at a
  // module's top level too late, after the module is loaded, and report that it survived.
  vitest: { pool: 'forks' },
  coverageAnalysis: 'perTest',
  // Mutants of constants at a module's top level, for which all tests would run.
  ignoreStatic: true,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  ignorePatterns: ['cdk.out', '.local', 'bench/node_modules', 'test/node_modules'],
  tempDirName: '.local/stryker',
  // Stryker would parse it with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  disableTypeChecks: false,
};
