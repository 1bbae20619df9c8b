import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test, vi } from 'vitest';
import { WEB_ACL_ARN } from '../test/support/stack.ts';

const ALL_SETTINGS = {
  stage: 'full',
  throwaway: true,
  alarmEmail: 'ops@example.com',
  domainName: 'plants.example.com',
  hostedZoneId: 'Z0123456789ABC',
  allowOrigins: 'https://a.example',
  tokenIssuer: 'https://id.example.com',
  tokenAudience: 'plants',
  webAclArn: WEB_ACL_ARN,
  cloudWatchRole: true,
};

/** Runs the app like the CDK's command line, but in this process. */
async function run(context: Record<string, unknown>) {
  const synth = vi.spyOn(App.prototype, 'synth');
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context }));
  try {
    // With another query, the module runs again.
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
  ['by default', {}],
  ['with every resource that the stack can have', ALL_SETTINGS],
  ['for an emulator', { emulator: true }],
])('%s, cdk-nag’s AwsSolutions and CDK’s own rules have no findings', async (_when, context) => {
  vi.stubEnv('CDK_VALIDATION', 'true');
  const { status, stderr, read } = await run(context);
  expect({ status, stderr }).toEqual({ status: undefined, stderr: [] });
  // The file exists only if rules were checked.
  expect(JSON.parse(read('validation-report.json')).pluginReports).toEqual([]);
});

test('a synthesis with a wrong setting ends with a sentence', async () => {
  expect(await run({ throwaway: 'yes' })).toMatchObject({
    status: 1,
    stderr: ['The context key "throwaway" was "yes"; it must be true or false.'],
  });
});

test('the stack has the settings of infra/stages.ts, and warns about a context key that replaces one', async () => {
  vi.stubEnv('IGNORE_STAGES', undefined);
  vi.doMock('./stages.ts', () => ({ stages: { staging: { requestsPerSecond: 500, cloudWatchRole: false } } }));
  const { read } = await run({ stage: 'staging', cloudWatchRole: true });
  vi.doUnmock('./stages.ts');
  expect(read('PlantStore-staging.template.json')).toContain('"ThrottlingRateLimit": 500');
  expect(read('PlantStore-staging.metadata.json')).toContain('The context key \\"cloudWatchRole\\" is true for');
});
