import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { whyNoDynamoDbLocal } from './test/support/dynamodb-local.ts';

/** What holds of the service on any DynamoDB, run on both engines. */
const CONTRACT_SUITE = [
  'functions/**/{attribute-value,bearer-auth,create-plant,index,tokens-table}.test.ts',
  'cli/token.test.ts',
  'test/{events,races}.test.ts',
];

/** What is run by commands, as a user runs them: a process and a synthesis each. */
const COMMANDS = ['test/local-run.test.ts'];

// Each test file loads the SDK or CDK anew, in a process of its own; compiled once, that takes a tenth less of all.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

export default defineConfig({
  test: {
    // These end what hangs, on a machine that has a third of its speed too.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxConcurrency: 8,
    // Most of a test is waiting; Vitest's own default leaves one core of two idle.
    maxWorkers: 3,
    globalSetup: 'test/support/synthesize-once.ts',
    setupFiles: 'test/support/property-runs.ts',
    // CDK's own rules take half of a synthesis; the test that is about them asks for them.
    env: { CDK_VALIDATION: 'false' },
    projects: [
      {
        extends: true,
        test: {
          name: 'dynalite',
          include: ['{checks,cli,contract,functions,local,scripts,test}/**/*.test.ts'],
          exclude: [...COMMANDS, 'test/dynamodb-local-skipped.test.ts', 'test/{runtime,second-operation,browser}/**'],
          provide: { engine: 'dynalite' },
        },
      },
      {
        extends: true,
        test: { name: 'local run', include: COMMANDS, provide: { engine: 'dynalite' } },
      },
      {
        extends: true,
        // Only reads; loading CDK anew for each file would take a third of its time.
        test: { name: 'infra', include: ['infra/**/*.test.ts'], isolate: false, provide: { engine: 'dynalite' } },
      },
      {
        extends: true,
        test: {
          name: 'DynamoDB Local',
          include: whyNoDynamoDbLocal() ? ['test/dynamodb-local-skipped.test.ts'] : CONTRACT_SUITE,
          provide: { engine: 'DynamoDB Local' },
        },
      },
      {
        extends: true,
        test: { name: 'runtime', include: ['test/runtime/*.test.ts'], provide: { engine: 'dynalite' } },
      },
      {
        extends: true,
        test: { name: 'browser', include: ['test/browser/*.test.ts'], provide: { engine: 'dynalite' } },
      },
      {
        extends: true,
        test: {
          name: 'second operation',
          include: ['test/second-operation/*.test.ts'],
          provide: { engine: 'dynalite' },
          // It runs other lanes, whole, in a copy of the project.
          testTimeout: 900_000,
        },
      },
    ],
  },
});
