import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { expect, test, vi } from 'vitest';

const ALL_SETTINGS = {
  stage: 'full',
  alarmEmail: 'ops@example.com',
  domainName: 'plants.example.com',
  hostedZoneId: 'Z0123456789ABC',
  allowOrigins: 'https://a.example',
  tokenIssuer: 'https://id.example.com',
  tokenAudience: 'plants',
  cloudWatchRole: true,
};

/** The settings of the tests, whatever infra/stages.ts sets. */
vi.mock('./stages.ts', () => ({ stages: { staging: { requestsPerSecond: 500, cloudWatchRole: false } } }));

/** Runs the app as the CDK CLI does, but in this process. */
async function run(context: Record<string, unknown>) {
  const synth = vi.spyOn(App.prototype, 'synth');
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context }));
  try {
    // A module runs again if its query is different.
    await import(/* @vite-ignore */ `./app.ts?${JSON.stringify(context)}`);
    const [directory = ''] = synth.mock.results.map(({ value }) => value.directory);
    return {
      status: process.exitCode,
      stderr: print.mock.calls.flat(),
      read: (file: string) => readFileSync(join(directory, file), 'utf8'),
    };
  } finally {
    process.exitCode = undefined;
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  }
}

test.each([
  ['with every resource that the stack can have', ALL_SETTINGS],
  ['for an ephemeral stack', { ephemeral: true }],
])('%s, cdk-nag and CDK report no findings', async (_case, context) => {
  vi.stubEnv('CDK_VALIDATION', 'true');
  const { status, stderr, read } = await run(context);
  expect({ status, stderr }).toEqual({ status: undefined, stderr: [] });
  // CDK writes the file only if it has checked the rules.
  expect(JSON.parse(read('validation-report.json')).pluginReports).toEqual([]);
});

test('prints the error and exits with status 1 for an invalid setting', async () => {
  expect(await run({ ephemeral: 'yes' })).toMatchObject({
    status: 1,
    stderr: ['The setting "ephemeral" was "yes": Invalid option: expected one of "true"|"false".'],
  });
});

test('prints the stack of a programming error and exits with status 1', async () => {
  vi.spyOn(Validations, 'of').mockImplementationOnce(() => JSON.parse('{'));
  const stack = expect.stringMatching(/^SyntaxError: .*\n {4}at /);
  expect(await run({ stage: 'broken' })).toMatchObject({ status: 1, stderr: [stack] });
});

test('uses the settings of infra/stages.ts and warns about a context key that overrides one', async () => {
  const { read } = await run({ stage: 'staging', cloudWatchRole: true });
  expect(read('PlantStore-staging.template.json')).toContain('"ThrottlingRateLimit": 500');
  expect(read('PlantStore-staging.metadata.json')).toContain('The setting \\"cloudWatchRole\\" is true for');
});
