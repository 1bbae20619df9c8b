import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const projectRoot = join(import.meta.dirname, '..');

const cdkOut = join(projectRoot, 'cdk.out');

/** Runs `cdk synth` with the project's own CLI and Node. Returns the cloud assembly's folder. */
export async function synthesize(assembly = cdkOut, context: Record<string, string> = {}): Promise<string> {
  const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  const keys = Object.entries(context).flatMap(([key, value]) => ['--context', `${key}=${value}`]);
  const child = spawn(process.execPath, [cdk, 'synth', '--quiet', '--output', assembly, ...keys], {
    cwd: projectRoot,
    // What CDK has to say of the template is for who deploys it, and half of a synthesis; cdk-nag still runs.
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true', CDK_VALIDATION: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The stack could not be synthesized:\n${output.trim()}`);
  return assembly;
}

/** The cloud assembly as it was last synthesized; enough for what only asks for the tables' names. */
export async function synthesizedBefore(): Promise<string> {
  return existsSync(join(cdkOut, 'manifest.json')) ? cdkOut : await synthesize();
}
