import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { projectRoot } from '../../local/synthesize.ts';

const NOT_COPIED = ['node_modules', 'cdk.out', '.local', '.git'];

/** A copy of the project with data of its own, in which a user's commands can be run. */
export function copyProject() {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  cpSync(projectRoot, directory, { recursive: true, filter: (source) => !NOT_COPIED.includes(basename(source)) });
  symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  const started: ChildProcess[] = [];

  function environment(variables: Record<string, string>): NodeJS.ProcessEnv {
    const { AWS_ENDPOINT_URL_DYNAMODB: _, ...inherited } = process.env;
    return { ...inherited, ...variables };
  }

  return {
    directory,

    /** Runs a command to its end. */
    run(command: string, variables: Record<string, string> = {}) {
      const [file = '', ...options] = command.split(' ');
      return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        execFile(file, options, { cwd: directory, env: environment(variables) }, (error, stdout, stderr) =>
          resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
        );
      });
    },

    /** Starts the local run on any free port; returns when it says that it is ready. Throws what it says where it ends. */
    async start(command: string, variables: Record<string, string> = {}) {
      const [file = '', ...options] = command.split(' ');
      const child = spawn(file, options, {
        cwd: directory,
        env: environment({ PORT: '0', ...variables }),
        // A group of its own, to be killed with all that npm started.
        detached: true,
      });
      started.push(child);
      const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
      let output = '';
      const ready = new Promise<void>((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr]) {
          stream.on('data', (chunk) => {
            output += chunk;
            if (/aws-sigv4.*\n/.test(output)) resolve();
          });
        }
        child.once('exit', () => reject(new Error(`${command} ended:\n${output}`)));
      });
      await ready;
      return {
        url: /ready at (\S+)/.exec(output)?.[1] ?? '',
        output: () => output,
        kill: () => process.kill(-Number(child.pid), 'SIGKILL'),
        terminate: () => child.kill('SIGTERM'),
        /** As Ctrl-C does: the terminal tells npm and what npm started, and npm passes it on. */
        interrupt: () => process.kill(-Number(child.pid), 'SIGINT'),
        exit,
      };
    },

    remove(): void {
      for (const { pid, exitCode, signalCode } of started) {
        if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type ProjectCopy = ReturnType<typeof copyProject>;
export type LocalRun = Awaited<ReturnType<ProjectCopy['start']>>;
