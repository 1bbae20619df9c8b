import { globSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, stripVTControlCharacters } from 'node:util';
import { createServer, createServerModuleRunner } from 'vite';
import { generate } from '../generate.ts';
import { ContractError } from '../generator/members.ts';
import { type ApiHandler, LoadError } from './proxy-integration.ts';

const CONTRACT = 'openapi.yaml';
const ENTRY = '/functions/index.ts';
/** Milliseconds between a change and the next load. An editor or git can change a file several times when it saves. */
const SETTLE_MS = 60;
/** The stack frames of Node.js and Vite, as `inspect` prints them. */
const FRAMES = /\n +at .*(node:|\/node_modules\/vite\/).*?(?=( \{)?$)/gm;

/**
 * Loads the function with Vite. After a change of the contract or of `functions/`, the returned handler first generates
 * and loads again. An invocation that is running finishes with the old code. Vite opens no port, and serves nothing.
 */
export async function loadFunction(): Promise<ApiHandler> {
  const { NODE_ENV } = process.env;
  const { environments } = await createServer({
    configFile: false,
    envDir: false,
    publicDir: false,
    appType: 'custom',
    logLevel: 'silent',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  });
  // Vite sets it to `development`. Lambda does not set it.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
  const { moduleGraph } = environments.ssr;
  const runner = createServerModuleRunner(environments.ssr, { hmr: false });

  /** The contract, and the state of the files, that the loaded code is from. */
  let loaded = { contract: '', files: '' };
  let settling: Promise<void> | undefined;
  async function settle(): Promise<void> {
    await sleep(SETTLE_MS);
    // Cleared before the rest, because a promise that stays rejected would end each later request.
    settling = undefined;
    const contract = readFileSync(CONTRACT, 'utf8');
    if (contract !== loaded.contract) generate();
    // Read before the code, so that a change during the next import is noticed too. It is the state of a contract that
    // was saved meanwhile, but the code is not: the next request then loads again.
    const files = stateOfFiles();
    loaded = { contract, files: readFileSync(CONTRACT, 'utf8') === contract ? files : '' };
    moduleGraph.invalidateAll();
  }

  async function load(): Promise<ApiHandler> {
    try {
      if (stateOfFiles() !== loaded.files) settling ??= settle();
      await settling;
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

/** Returns the names of the contract and the files of the function, with when each was written, moved or replaced. */
function stateOfFiles(): string {
  const files = globSync([CONTRACT, 'functions/**/*']);
  // A file that an editor has just removed has no time.
  return JSON.stringify(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.ctimeMs]));
}

/** Returns why an import failed, without the stack frames of Node.js and Vite. */
function loadErrorText(thrown: unknown): string {
  // Vite's own errors, such as a syntax error, have this property. Their message names the file; their stack is Vite's.
  const isSentence = thrown instanceof ContractError || (thrown instanceof Error && 'runnerError' in thrown);
  const text = isSentence ? thrown.message : inspect(thrown);
  const reason = stripVTControlCharacters(text).replace(/^Transform failed .*:\n+/, '');
  return reason.replaceAll(FRAMES, '').trim();
}
