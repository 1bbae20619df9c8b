/** The folder whose files are mutated, and whose tests must notice it. vitest.config.ts reads it too. */
process.env['MUTATION_FOLDER'] ??= 'functions';
const folder = process.env['MUTATION_FOLDER'];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: [`${folder}/**/*.{ts,mts}`, '!**/*.{test,generated,d}.ts'],
  // The percentage of mutants that the tests must notice.
  thresholds: { high: 100, low: 95, break: folder === 'functions' ? 95 : 85 },
  testRunner: 'vitest',
  // CDK's bundling does not work in threads. Not `testFiles`: with it, Stryker 10.1.1 activates a mutant of
  // a module's top level after the module is loaded, and reports that it survived.
  vitest: { pool: 'forks' },
  coverageAnalysis: 'perTest',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  ignorePatterns: ['cdk.out', '.local', 'bench/node_modules', 'test/runtime/node_modules'],
  tempDirName: '.local/stryker',
  // Stryker would read it with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  disableTypeChecks: false,
};
