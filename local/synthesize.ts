import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const projectRoot = join(import.meta.dirname, '..');

/** The CLI sets both by default: the assets' folders and the constructs' paths are in the template. */
const METADATA = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

/**
 * Runs the CDK app as `cdk synth` does, but without the CLI, which takes longer than the app and looks for an AWS
 * account. The template is the same. Returns the cloud assembly's folder.
 *
 * @throws with the app's own output if it fails, for example on a cdk-nag finding
 */
export async function synthesize(assembly: string, context: Record<string, string> = {}): Promise<string> {
  const cdkJson = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  const env = {
    ...process.env,
    CDK_OUTDIR: assembly,
    CDK_CONTEXT_JSON: JSON.stringify({ ...cdkJson.context, ...METADATA, ...context }),
    // CDK's own template checks take half of a synthesis; a deployment runs them. cdk-nag still runs.
    CDK_VALIDATION: 'false',
    PATH: `${join(import.meta.dirname, 'bin')}${delimiter}${process.env['PATH']}`,
    NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/node'),
  };
  try {
    await promisify(execFile)(cdkJson.app, { shell: true, cwd: projectRoot, env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`The stack could not be synthesized:\n${(stdout + stderr).trim()}`);
  }
  return assembly;
}

/** Synthesizes into a temporary folder that exists until `use` ends: two runs in one folder would mix their files. */
export async function withTemporaryAssembly<Result>(use: (assembly: string) => Promise<Result>): Promise<Result> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'plant-store-'));
  return await use(await synthesize(directory.path));
}
