/**
 * Mutation testing of the function. What survives is looked at; these are equivalent:
 * - bearer-auth.ts, `token === undefined || ...`: the pattern matches no "undefined"; it is there for the types.
 * - validation-message.ts, `schema?.`: a missing member always has a schema; the types do not know.
 * - exact-numbers.ts, `member === undefined`, and typed-parameters.ts, `text !== undefined`: for the types.
 * - exact-numbers.ts, `typeof value[name] === 'number'`: only saves parsing the body once more.
 * - access-token.ts, the prefix: only operate/ issues any, and has tests of its own.
 * - database.ts, what states the SDK's own defaults, and `cacheMiddleware`, which only saves time.
 * - index.ts and operation.ts, the priming: the tests of the built bundle see it, which no mutant reaches.
 * - plants-table.ts, `> MAX_ITEM_BYTES`: the names count too, so that 400 KB is as much too large as one byte more.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: ['functions/**/*.ts', '!functions/**/*.test.ts', '!functions/**/*.d.ts'],
  testRunner: 'vitest',
  vitest: { configFile: 'stryker.vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  ignorePatterns: ['cdk.out', '.local', 'bench/node_modules', 'test/runtime/node_modules'],
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  tempDirName: '.local/stryker',
  // Stryker reads it with the JavaScript API that TypeScript 7 does not have; there is nothing in it to rewrite.
  tsconfigFile: 'none',
  concurrency: 2,
  thresholds: { high: 95, low: 90, break: 90 },
};
