import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test, vi } from 'vitest';
import { copyProject } from '../test/support/project-copy.ts';
import { context, EVERYTHING } from '../test/support/stack.ts';
import { commit } from './commit.ts';
import type { Settings } from './settings.ts';
import { stages } from './stages.ts';

// infra/stages.ts, and a stage in which every setting has a value.
vi.mock('./stages.ts', async (importOriginal) => {
  const original = await importOriginal<{ stages: Record<string, Settings> }>();
  return { stages: { ...original.stages, everything: EVERYTHING } };
});

/** Runs the app as the CDK CLI does, but in this process and without bundling. */
async function run(options: Record<string, unknown>) {
  const synth = vi.spyOn(App.prototype, 'synth');
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': [], ...options }));
  try {
    // A module runs again if its query is different.
    await import(/* @vite-ignore */ `./app.ts?${JSON.stringify(options)}`);
    const directory = synth.mock.results[0]?.value.directory;
    return { status: process.exitCode, stderr: print.mock.calls.flat(), directory };
  } finally {
    process.exitCode = undefined;
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  }
}

test.each(Object.entries(stages))(
  'for the stage %s, cdk-nag and CDK report nothing, and the stack has its commit',
  async (stage, settings) => {
    vi.stubEnv('CDK_VALIDATION', 'true');
    const validate = vi.spyOn(AwsSolutionsChecks.prototype, 'validate');
    const { status, stderr, directory } = await run({ stage });
    const isSilent = settings.ephemeral || settings.alarms?.email !== undefined;
    const nobody = expect.stringContaining(`The stage "${stage}" has no alarms.email: unless something is subscribed `);
    expect({ status, stderr }).toEqual({ status: undefined, stderr: isSilent ? [] : [nobody] });
    const { stacks } = new CloudAssembly(directory);
    expect(stacks[0]?.template.Outputs.Commit?.Value).toBe(commit());
    // CDK writes the file only if it has checked the rules.
    const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8'));
    expect(report.pluginReports).toEqual([]);
    expect(validate).toHaveBeenCalled();
  },
);

test('the app prints the message of a wrong setting, or the stack of a programming error, and exits with status 1', async () => {
  const message = expect.stringContaining('The stage "prod" is not in infra/stages.ts; ');
  expect(await run({ stage: 'prod' })).toMatchObject({ status: 1, stderr: [message] });
  vi.spyOn(Validations, 'of').mockImplementationOnce(() => JSON.parse('{'));
  const stderr = [expect.any(SyntaxError)];
  expect(await run({ stage: 'everything', '@aws-cdk/test:run': 'again' })).toMatchObject({ status: 1, stderr });
});

test('a mistyped setting in infra/stages.ts stops each cdk command, because cdk.json first runs the compiler', async () => {
  const { directory, run } = copyProject();
  const mistyped = 'export const stages: Record<string, Settings> = { production: { alarm: {} } };';
  writeFileSync(join(directory, 'infra/stages.ts'), `import type { Settings } from './settings.ts';\n${mistyped}`);
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const { code, stdout } = await run(['sh', '-c', app]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("'alarm' does not exist in type") });
});

test('the compiler and the app run with the Node.js of this project, not with that of a global CDK CLI', async () => {
  const { directory, run } = copyProject();
  writeFileSync(join(directory, 'node'), '#!/bin/sh\necho another\n', { mode: 0o755 });
  writeFileSync(join(directory, 'infra/app.ts'), 'console.log(process.version as string);');
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const ended = await run(['sh', '-c', app], { PATH: `${directory}:${process.env['PATH']}` });
  expect(ended).toEqual({ code: 0, stdout: `${process.version}\n`, stderr: '' });
});
