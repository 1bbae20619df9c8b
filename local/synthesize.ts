import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const projectRoot = join(import.meta.dirname, '..');

/** The CDK CLI sets both by default. They add the assets' folders and the constructs' paths to the template. */
const METADATA = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

/**
 * Runs the CDK app and returns the folder of the cloud assembly. The template is the same as with `cdk synth`, but the
 * CDK CLI is not used, because it takes longer than the app and looks for an AWS account.
 *
 * @throws with the app's output if the app fails, for example because of a cdk-nag finding
 */
export async function synthesize(assembly: string, context: Record<string, string> = {}): Promise<string> {
  const cdkJson = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  const env = {
    ...process.env,
    CDK_OUTDIR: assembly,
    CDK_CONTEXT_JSON: JSON.stringify({ ...cdkJson.context, ...METADATA, ...context }),
    // CDK's template validation takes half of the time, and each deployment runs it. cdk-nag still runs here.
    CDK_VALIDATION: 'false',
    PATH: `${join(import.meta.dirname, 'bin')}${delimiter}${process.env['PATH']}`,
    NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/node'),
  };
  try {
    await promisify(execFile)(cdkJson.app, { shell: true, cwd: projectRoot, env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    // CDK repeats esbuild's command line, of 1,400 characters, after esbuild's message.
    const output = (stdout + stderr).replaceAll(/^(Bundling|Failed to bundle) asset .*\n?/gm, '');
    throw new Error(`The stack could not be synthesized:\n${output.trim()}`);
  }
  return assembly;
}

/** Calls `use` with an assembly in a temporary folder, because two runs in one folder would mix their files. */
export async function withTemporaryAssembly<Result>(use: (assembly: string) => Promise<Result>): Promise<Result> {
  await using directory = await mkdtempDisposable(join(realpathSync(tmpdir()), 'plant-store-'));
  return await use(await synthesize(directory.path));
}
