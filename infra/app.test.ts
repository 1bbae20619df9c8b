import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, onTestFinished, test, vi } from 'vitest';
import { copyProject } from '../test/support/project-copy.ts';
import { context, EVERYTHING } from '../test/support/stack.ts';
import { commit } from './commit.ts';
import type { Settings } from './settings.ts';
import { stages } from './stages.ts';
import { synthesizeStage } from './synthesize-stage.ts';

const all: Record<string, Settings> = { ...stages, everything: EVERYTHING };

/** Runs the app as the CDK CLI does, but in this process and without bundling. */
function synthesize(stage: string, settings = all) {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.stubEnv('CDK_VALIDATION', 'true');
  onTestFinished(() => void vi.restoreAllMocks().unstubAllEnvs());
  const outdir = mkdtempSync(join(tmpdir(), 'assembly-'));
  const status = synthesizeStage(settings, { outdir, context: { ...context, 'aws:cdk:bundling-stacks': [], stage } });
  return { status, stderr: print.mock.calls.flat(), outdir };
}

test.each(Object.entries(all))(
  'for the stage %s, cdk-nag and CDK report nothing, and the stack has its commit',
  (stage, settings) => {
    const validate = vi.spyOn(AwsSolutionsChecks.prototype, 'validate');
    const { status, stderr, outdir } = synthesize(stage);
    const isSilent = settings.ephemeral || settings.alarms?.email !== undefined;
    const nobody = expect.stringContaining(`The stage "${stage}" has no alarms.email: unless something is subscribed `);
    expect({ status, stderr }).toEqual({ status: 0, stderr: isSilent ? [] : [nobody] });
    expect(validate).toHaveBeenCalled();
    const { stacks } = new CloudAssembly(outdir);
    expect(stacks[0]?.template.Outputs.Commit?.Value).toBe(commit());
    // Only this report shows an annotation of the CDK, with which `cdk deploy --strict` would fail.
    const { pluginReports } = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8'));
    expect(pluginReports).toEqual([]);
  },
);

test.each<[string, Record<string, Settings>, unknown]>([
  [
    'a wrong setting is printed as a message',
    stages,
    expect.stringMatching(/^The stage "prod" is not in infra\/stages.ts/),
  ],
  ['a programming error is printed with its stack', { prod: JSON.parse('{"allowOrigins":1}') }, expect.any(TypeError)],
])('%s, and the exit status is 1', (_, settings, printed) => {
  expect(synthesize('prod', settings)).toMatchObject({ status: 1, stderr: [printed] });
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
