import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, stripVTControlCharacters } from 'node:util';
import { createServer, createServerModuleRunner } from 'vite';
import { type ApiHandler, LoadError } from './proxy-event.ts';

const ENTRY = '/functions/create-plant/index.ts';
/** Milliseconds between a change and the next load. An editor or git can change a file several times when it saves. */
const SETTLE_MS = 60;
/** The stack frames of Node.js and Vite, as `inspect` prints them. */
const FRAMES = /\n +at .*(node:|\/node_modules\/vite\/).*?(?=( \{)?$)/gm;

/**
 * Loads the function with Vite. Returns a handler that first loads what has changed, and what imports it. An invocation
 * that is running finishes with the old code. Vite opens no port here, and serves nothing.
 */
export async function loadFunction(): Promise<ApiHandler> {
  /** When each loaded file was changed. A watcher would miss a change that follows another within about 70 ms. */
  const loaded = new Map<string, number>();
  const { NODE_ENV } = process.env;
  const { environments } = await createServer({
    configFile: false,
    envDir: false,
    publicDir: false,
    appType: 'custom',
    logLevel: 'silent',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    // Vite calls this before it reads a file, so a change while it reads the file is noticed too.
    plugins: [{ name: 'loaded', load: (file) => void loaded.set(file, changedAt(file)) }],
  });
  // Vite sets it to `development`. Lambda does not set it.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
  const { moduleGraph } = environments.ssr;
  const runner = createServerModuleRunner(environments.ssr, { hmr: false });

  const changedFiles = () => [...loaded].flatMap(([file, time]) => (changedAt(file) === time ? [] : [file]));
  let settling: Promise<void> | undefined;
  async function settle(): Promise<void> {
    await sleep(SETTLE_MS);
    // Cleared before the rest, because a promise that stays rejected would end each later request.
    settling = undefined;
    for (const file of changedFiles()) {
      loaded.delete(file);
      moduleGraph.onFileChange(file);
    }
  }

  async function load(): Promise<ApiHandler> {
    if (changedFiles().length > 0) settling ??= settle();
    await settling;
    try {
      return (await runner.import<{ handler: ApiHandler }>(ENTRY)).handler;
    } catch (thrown) {
      // A module that threw stays cached. The correction can be in a file that was not loaded, so all are invalidated.
      moduleGraph.invalidateAll();
      throw new LoadError(loadErrorText(thrown));
    }
  }
  // Otherwise the first request would wait for it.
  await load().catch(({ message }: LoadError) => console.error(message));
  return async (event, context) => (await load())(event, context);
}

/** Returns when a file was written, or replaced by another. Returns 0 for a file that cannot be found. */
function changedAt(file: string): number {
  try {
    return statSync(file).ctimeMs;
  } catch {
    return 0;
  }
}

/** Returns why an import failed, without the stack frames of Node.js and Vite. */
function loadErrorText(thrown: unknown): string {
  // Vite's own errors, such as a syntax error, have this property. Their message names the file; their stack is Vite's.
  const text = thrown instanceof Error && 'runnerError' in thrown ? thrown.message : inspect(thrown);
  const reason = stripVTControlCharacters(text).replace(/^Transform failed .*:\n+/, '');
  return reason.replaceAll(FRAMES, '').trim();
}
