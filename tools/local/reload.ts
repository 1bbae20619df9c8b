import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { errorText } from '../../infra/error-text.ts';
import { projectRoot } from '../../infra/project-root.ts';
import { writeGenerated } from '../generate/generate.ts';
import { rejectWebPages } from './loopback.ts';
import { createReloadProxy, ENDED, type PortOrReason } from './reload-proxy.ts';
import type { ServeOptions } from './serve.ts';
import { watchSources } from './watch.ts';

/** Milliseconds in which running requests can end before the process with the previous code is stopped. */
const FINISH_MS = 2000;

/**
 * Serves in a child process, behind a proxy, and starts it again after each change. Prints `instructions` when it is
 * first ready.
 */
export async function serveAndReload({ port, ...options }: ServeOptions, instructions: string): Promise<never> {
  const nextChange = watchSources(projectRoot);
  let childPort = Promise.withResolvers<PortOrReason>();
  const proxy = createReloadProxy(() => childPort.promise);
  // The child does the same, but does not run while its code cannot be loaded.
  rejectWebPages(proxy.server, { origins: true });
  await once(proxy.server.listen(port, '127.0.0.1'), 'listening');
  const processes = new Set<ChildProcess>();
  const killAll = () => {
    for (const each of processes) each.kill('SIGKILL');
  };
  // A process that a debugger has paused does not notice that its parent has ended.
  process.on('exit', killAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit());
  let isFirst = true;
  generate();
  for (;;) {
    const start = performance.now();
    const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify({ ...options, port: 0 })]);
    const exit = once(child, 'exit');
    const { resolve } = childPort;
    // TypeScript knows only that the message is JSON: the port, or the reason why the process failed.
    child.once('message', (ready) => {
      resolve(typeof ready === 'number' ? ready : String(ready));
      if (typeof ready !== 'number') return;
      console.log(isFirst ? instructions : `Reloaded in ${((performance.now() - start) / 1000).toFixed(1)} s.`);
      isFirst = false;
      processes.add(checkTypes());
    });
    child.once('exit', (code) => {
      resolve(ENDED);
      if (code) console.error('Waiting for a change.');
    });
    processes.add(child);
    await nextChange();
    // While the contract is not valid, the running process stays.
    while (!generate()) await nextChange();
    const next = Promise.withResolvers<PortOrReason>();
    // If the child is not ready yet, the requests that wait for it now wait for the next one.
    childPort.resolve(next.promise);
    childPort = next;
    await proxy.finish(FINISH_MS);
    killAll();
    processes.clear();
    await exit;
  }
}

/** Writes the generated files. Prints why and returns false if the contract is not supported. */
function generate(): boolean {
  try {
    writeGenerated();
    return true;
  } catch (error) {
    console.error(errorText(error));
    return false;
  }
}

/** Starts `tsc`, which prints the type errors. */
function checkTypes(): ChildProcess {
  const args = ['node_modules/.bin/tsc', '--incremental', '--tsBuildInfoFile', '.local/tsc.json'];
  return spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' });
}
