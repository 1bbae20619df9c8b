import { vi } from 'vitest';

/**
 * Runs a command of tools/ in this process, because starting another process takes a second. Without --stack, it uses
 * the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB, which `startEngine` sets.
 */
export function runCommand(name: string, args: string[], variables?: NodeJS.ProcessEnv) {
  vi.resetModules();
  return runInProcess(args, () => import(`../../tools/${name}.ts`), variables);
}

/** Runs a function in this process with these arguments. It must write only to the console. Not for concurrent tests. */
export async function runInProcess(args: string[], run: () => Promise<unknown>, variables: NodeJS.ProcessEnv = {}) {
  const { argv, exitCode } = process;
  // Otherwise the command's listeners would outlive it.
  const listening = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'on').mockReturnValue(stream));
  const [out, err] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')];
  for (const spy of [out, err]) spy.mockReset().mockImplementation(() => {});
  const written = ({ mock }: typeof out) => mock.calls.map((call) => `${call.join(' ')}\n`).join('');
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  try {
    process.argv = [...argv.slice(0, 2), ...args];
    process.exitCode = 0;
    await run();
    return { code: Number(process.exitCode), stdout: written(out), stderr: written(err) };
  } finally {
    Object.assign(process, { argv, exitCode });
    vi.unstubAllEnvs();
    for (const spy of [out, err, ...listening]) spy.mockRestore();
  }
}
