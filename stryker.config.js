/** The folder to mutate. Only its tests run: vitest.config.ts reads this variable too. */
process.env['MUTATION_FOLDER'] ??= 'functions';
const folder = process.env['MUTATION_FOLDER'];

/** These run in another process than the tests, or in a bundle. The dashboard's titles and positions are not tested. */
const NOT_MUTATED = [
  'tools/{generate,invoke,rename,start}.ts',
  'tools/local/{lambda-process,service,synthesize}.ts',
  'infra/{bundle/node-http,monitoring/dashboard}.ts',
];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  // MUTATED_FILES: the files to mutate, separated by commas, instead of the whole folder.
  mutate: [
    ...(process.env['MUTATED_FILES'] ?? `${folder}/**/*.ts`).split(','),
    ...['**/*.{test,generated,d}.ts', ...NOT_MUTATED].map((pattern) => `!${pattern}`),
  ],
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
