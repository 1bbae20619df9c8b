import { type ChildProcess, spawn } from 'node:child_process';
import { projectRoot } from '../../model/project-root.ts';

const TSC = ['node_modules/.bin/tsc', '--incremental', '--tsBuildInfoFile', '.local/tsc.json'];

let running: ChildProcess | undefined;
let hasErrors = false;

/**
 * Checks the types in the background. Ends a check that is still running. Prints the errors, or that there are no more.
 */
export function checkTypes(): void {
  running?.kill();
  running = spawn(process.execPath, TSC, { cwd: projectRoot, stdio: 'inherit' }).once('exit', (code) => {
    // It was killed.
    if (code === null) return;
    if (code === 0 && hasErrors) console.log('Types: OK');
    hasErrors = code !== 0;
  });
}
