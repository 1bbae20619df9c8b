/** The folder to mutate. Only its tests run: vitest.config.ts reads this variable too. */
process.env['MUTATION_FOLDER'] ??= 'functions';
const folder = process.env['MUTATION_FOLDER'];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: [`${folder}/**/*.ts`, '!**/*.{test,generated,d}.ts'],
  // The percentage of mutants that the tests must detect.
  thresholds: { high: 100, low: 95, break: folder === 'functions' ? 95 : 85 },
  testRunner: 'vitest',
  // CDK's bundling fails in threads. `testFiles` is not set, because Stryker 10.1.1 would then activate a mutant at a
  // module's top level too late, after the module is loaded, and report that it survived.
  vitest: { pool: 'forks' },
  coverageAnalysis: 'perTest',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  ignorePatterns: ['cdk.out', '.local', 'bench/node_modules', 'test/node_modules'],
  tempDirName: '.local/stryker',
  // Stryker would parse it with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  disableTypeChecks: false,
};
