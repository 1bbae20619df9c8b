import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import fast from '../vitest.config.ts';

const root = join(import.meta.dirname, '..');

/** The tests that run on a second DynamoDB engine too: what is stored and read, and its limits. */
const BOTH_ENGINES = [
  'functions/create-plant/create-plant.test.ts',
  'functions/index.test.ts',
  'functions/tokens/opaque-token-verifier.test.ts',
  'test/events.test.ts',
  'tools/plants.test.ts',
  'tools/token.test.ts',
];
const renamed = BOTH_ENGINES.find((file) => !existsSync(join(root, file)));
if (renamed !== undefined) throw new Error(`${renamed} does not exist; name the file that replaces it here.`);

const project = (name: string, include: string[], options = {}) => ({
  extends: true as const,
  test: { name, include, ...options },
});

/** The slow tests: they need Java, Chromium, or some minutes. */
export default defineConfig({
  root,
  test: {
    ...fast.test,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    include: [],
    projects: [
      project('local-run', ['test/local-run/*.test.ts']),
      project('dynamodb-local', BOTH_ENGINES, { provide: { engine: 'DynamoDB Local' } }),
      project('cdk', ['test/cdk/*.test.ts']),
      project('recipes', ['test/recipes/*.test.ts']),
      project('runtime', ['test/runtime/*.test.ts']),
      project('smoke', ['test/smoke/*.test.ts']),
      project('browser', ['test/browser/*.test.ts']),
      project('project', ['test/project.test.ts']),
    ],
  },
});
