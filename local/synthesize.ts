import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const projectRoot = join(import.meta.dirname, '..');

/** A CDK app that has its libraries loaded and waits to be let go. */
export interface Synthesis {
  /** Lets the app write its cloud assembly; once. Throws what the app says where it fails. */
  run(): Promise<void>;
  /** Ends the app, waiting or running. */
  cancel(): void;
}

/**
 * Runs the stack's app as `cdk synth` does, without the CLI around it: that takes longer than the app, and
 * asks for the account. The template is the CLI's own. Returns the cloud assembly's folder.
 *
 * Throws what the app says where it fails, cdk-nag's findings included.
 */
export async function synthesize(assembly: string, context: Record<string, string> = {}): Promise<string> {
  await prepareSynthesis(assembly, context).run();
  return assembly;
}

/** Synthesizes into a folder of its own, which is there for as long as `use` takes: two in one folder mix. */
export async function withOwnAssembly<Result>(use: (assembly: string) => Promise<Result>): Promise<Result> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'plant-store-'));
  return await use(await synthesize(directory.path));
}

/** Starts the app ahead of time; what it is made of is read when it is let go, but for the libraries. */
export function prepareSynthesis(assembly: string, context: Record<string, string> = {}): Synthesis {
  const { NODE_OPTIONS = '', PATH } = process.env;
  const preload = pathToFileURL(join(import.meta.dirname, 'preload-app.ts')).href;
  // Without exec, cancel() would end the shell and leave the app.
  const child = spawn(`exec ${readCdkJson().app}`, {
    shell: true,
    cwd: projectRoot,
    env: {
      ...process.env,
      CDK_OUTDIR: assembly,
      // What CDK has to say of the template is for who deploys it, and half of a synthesis; cdk-nag still runs.
      CDK_VALIDATION: 'false',
      PATH: `${join(import.meta.dirname, 'bin')}${delimiter}${PATH}`,
      NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/node'),
      NODE_OPTIONS: `${NODE_OPTIONS} --import=${preload}`,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  // An app that has failed already reads no more; its output says why.
  child.stdin.on('error', () => {});
  const ended = once(child, 'close');
  return {
    run: async () => {
      const CDK_CONTEXT_JSON = JSON.stringify({ ...readCdkJson().context, ...METADATA, ...context });
      // What bundles the function is a Node.js process too, and not to be preloaded.
      child.stdin.end(JSON.stringify({ CDK_CONTEXT_JSON, NODE_OPTIONS }));
      const [status] = await ended;
      if (status !== 0) throw new Error(`The stack could not be synthesized:\n${output.trim()}`);
    },
    cancel: () => {
      child.kill();
    },
  };
}

/** The CLI asks for both by default: the assets' folders and the constructs' paths in the template. */
const METADATA = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

/** The app looks nothing up, so no other file has context for it. */
function readCdkJson() {
  return JSON.parse(String(readFileSync(join(projectRoot, 'cdk.json')))) as {
    app: string;
    context: Record<string, unknown>;
  };
}
