import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { vi } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../local/development-token.ts';
import { projectRoot } from '../../local/synthesize.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Circumstances {
  variables?: NodeJS.ProcessEnv;
  directory?: string;
  input?: string;
}

/** Runs a command of cli/ to its end, as its npm script does, with the development token in the environment. */
export function runTool(
  tool: string,
  args: string[],
  { variables, directory = projectRoot, input = '' }: Circumstances = {},
): Promise<Ended> {
  const options = { cwd: directory, env: { ...process.env, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN, ...variables } };
  return new Promise((resolve) => {
    const file = join(projectRoot, 'cli', `${tool}.ts`);
    const child = execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

/** Runs a command of cli/ in this process, which takes milliseconds in place of a second. */
export function runToolHere(tool: string, args: string[], variables?: NodeJS.ProcessEnv): Promise<Ended> {
  vi.resetModules();
  return runHere(args, () => import(`../../cli/${tool}.ts`), variables);
}

/** Runs what writes by the console alone in this process, as if it had these arguments. One at a time. */
export async function runHere(
  args: string[],
  run: () => Promise<unknown>,
  variables: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const { argv, exitCode } = process;
  const streams = [process.stdout, process.stderr];
  const listeners = streams.map((stream) => stream.listeners('error'));
  const [out, err] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')];
  for (const spy of [out, err]) spy.mockReset().mockImplementation(() => {});
  const written = ({ mock }: typeof out) => mock.calls.map((call) => `${call.join(' ')}\n`).join('');
  for (const [name, value] of Object.entries({ PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN, ...variables })) {
    vi.stubEnv(name, value);
  }
  try {
    process.argv = [...argv.slice(0, 2), ...args];
    process.exitCode = 0;
    await run();
    return { code: Number(process.exitCode), stdout: written(out), stderr: written(err) };
  } finally {
    Object.assign(process, { argv, exitCode });
    vi.unstubAllEnvs();
    for (const spy of [out, err]) spy.mockRestore();
    for (const [index, stream] of streams.entries()) {
      for (const listener of stream.listeners('error')) {
        if (!listeners[index]?.includes(listener)) stream.off('error', listener as () => void);
      }
    }
  }
}
