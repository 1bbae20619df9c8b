import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

/** In a slow test, a command that hangs is ended before the test, and named with its output. */
const RUN_LIMIT_MS = 240_000;
const NOT_COPIED = ['node_modules', 'cdk.out', '.local', '.git', '.env'];

/** Copies the project without its data, to run commands as a user does. */
export function copyProject() {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  cpSync('.', directory, { recursive: true, filter: (source) => !NOT_COPIED.includes(basename(source)) });
  symlinkSync(resolve('test/node_modules'), join(directory, 'test/node_modules'));
  // Packages of the bundle are copied, because esbuild follows a link, and writes the path of its target.
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const bundled = Object.keys(packages).filter((path) => !packages[path].dev);
  const folders = new Set(bundled.map((path) => path.split('/')[1]));
  mkdirSync(join(directory, 'node_modules'));
  for (const folder of readdirSync('node_modules')) {
    const [from, to] = [resolve('node_modules', folder), join(directory, 'node_modules', folder)];
    if (folders.has(folder)) cpSync(from, to, { recursive: true });
    else symlinkSync(from, to);
  }
  let child: ChildProcess | undefined;
  const { AWS_ENDPOINT_URL_DYNAMODB: _, ...inherited } = process.env;

  /**
   * Runs a command: one without spaces in its arguments, or a list. Returns its exit status and output. Throws its
   * output if a signal ends it, also that of the time limit.
   */
  function run(command: string | string[], variables: Record<string, string> = {}) {
    const [file = '', ...args] = Array.isArray(command) ? command : command.split(' ');
    // Nothing listens on port 1. At the default ports, a developer's own local run can listen.
    const env = { ...inherited, PORT: '1', DYNAMODB_PORT: '1', ...variables };
    const options = { cwd: directory, env, timeout: RUN_LIMIT_MS };
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve, reject) => {
      execFile(file, args, options, (error, stdout, stderr) => {
        if (!error?.signal) return resolve({ code: Number(error?.code ?? 0), stdout, stderr });
        const reason = error.killed ? `did not end within ${RUN_LIMIT_MS} ms` : `was ended by ${error.signal}`;
        reject(new Error(`${[command].flat().join(' ')} ${reason}:\n${stdout}${stderr}`));
      });
    });
  }

  return {
    directory,
    run,

    /** Starts the local run on free ports. Throws its output if it ends before it is ready, or is not ready in time. */
    async start() {
      // A process group, so that `close` also ends what npm started.
      const options = { cwd: directory, env: { ...inherited, PORT: '0', DYNAMODB_PORT: '0' }, detached: true };
      const started = spawn('npm', ['start'], options);
      child = started;
      let output = '';
      await new Promise<void>((resolve, reject) => {
        for (const stream of [started.stdout, started.stderr]) {
          stream.on('data', (chunk) => {
            output += chunk;
            if (/npm run plants\n/.test(output)) resolve();
          });
        }
        started.once('exit', () => reject(new Error(`npm start ended:\n${output}`)));
        const late = () => reject(new Error(`npm start was not ready within ${RUN_LIMIT_MS} ms:\n${output}`));
        setTimeout(late, RUN_LIMIT_MS).unref();
      });
      const url = /ready at (\S+)/.exec(output)?.[1] ?? '';
      const endpoint = /DynamoDB: (\S+)/.exec(output)?.[1] ?? '';
      const ports = { PORT: new URL(url).port, DYNAMODB_PORT: new URL(endpoint).port };
      return {
        url,
        output: () => output,
        /** Runs a command that finds this local run. */
        run: (command: string | string[]) => run(command, ports),
      };
    },

    /** Kills the local run, if one runs. */
    async close(): Promise<void> {
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      process.kill(-child.pid, 'SIGKILL');
      await once(child, 'exit');
    },
  };
}

export type LocalRun = Awaited<ReturnType<ReturnType<typeof copyProject>['start']>>;
