import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test, vi } from 'vitest';
import { CONTEXTS } from '../test/support/stack.ts';

/** Runs the app as the CDK's command line does, but in this process. */
async function run(context: Record<string, unknown>) {
  const synth = vi.spyOn(App.prototype, 'synth');
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context }));
  try {
    // With a query of its own it runs once more.
    await import(/* @vite-ignore */ `./app.ts?${JSON.stringify(context)}`);
    return {
      status: process.exitCode,
      stderr: print.mock.calls.flat(),
      directories: synth.mock.results.map(({ value }) => value.directory),
    };
  } finally {
    process.exitCode = undefined;
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  }
}

test.each(CONTEXTS)('%s, cdk-nag’s AwsSolutions find nothing unacknowledged', async (_when, context) => {
  const { status, stderr, directories } = await run(context);
  expect({ status, stderr, directories }).toEqual({ status: undefined, stderr: [], directories: [expect.any(String)] });
  // It is written only where there are rules to ask.
  const report = JSON.parse(readFileSync(join(directories[0], 'validation-report.json'), 'utf8'));
  expect(report.pluginReports).toEqual([]);
});

test('a synthesis that is refused ends with a sentence', async () => {
  expect(await run({ throwaway: 'yes' })).toEqual({
    status: 1,
    stderr: ['The context key "throwaway" was "yes"; it must be true or false.'],
    directories: [],
  });
});

test('a deployment has the settings of infra/stages.ts, and tells where a context key is used in their place', async () => {
  vi.stubEnv('IGNORE_STAGES', undefined);
  vi.doMock('./stages.ts', () => ({ stages: { staging: { requestsPerSecond: 500, cloudWatchRole: false } } }));
  const { directories } = await run({ stage: 'staging', cloudWatchRole: true });
  vi.doUnmock('./stages.ts');
  const read = (file: string) => readFileSync(join(directories[0], file), 'utf8');
  expect(read('PlantStore-staging.template.json')).toContain('"ThrottlingRateLimit": 500');
  expect(read('PlantStore-staging.metadata.json')).toContain('The context key \\"cloudWatchRole\\" is \\"true\\" for');
});
