import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const projectRoot = join(import.meta.dirname, '../..');

/** `cdk synth` sets both. readTemplate needs the first one, for the folders of the bundles. */
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
