import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, isRunnableDevEnvironment } from 'vite';
import { toLoadError } from './load-error.ts';

/**
 * Milliseconds without a change before the changed files are read. An editor or git can change a file several times
 * when it saves, and Vite's watcher reports two changes of a file within 50 ms as one.
 */
const SETTLE_MS = 60;

/**
 * Loads modules of a project with Vite, and watches the project's files. Vite opens no port here, and serves nothing.
 *
 * @param root the project's folder
 * @param isOtherSource returns true for a file whose change needs a reload, although it is no loaded module
 */
export async function watchModules(root: string, isOtherSource: (file: string) => boolean) {
  const { NODE_ENV } = process.env;
  let watching: Promise<unknown> | undefined;
  const { environments, watcher } = await createServer({
    root,
    configFile: false,
    envDir: false,
    publicDir: false,
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
    server: {
      middlewareMode: true,
      hmr: false,
      ws: false,
      watch: { ignored: ['**/.local/**', '**/cdk.out/**', '**/*.generated.*'] },
    },
    plugins: [
      {
        name: 'watching',
        // Vite has just created the watcher, which emits this event only once.
        configureServer: (server) => {
          watching = once(server.watcher, 'ready');
        },
      },
    ],
  });
  // Vite sets it to `development`. Lambda does not set it.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
  const { ssr } = environments;
  if (!isRunnableDevEnvironment(ssr)) throw new Error('The environment "ssr" of Vite has no module runner.');
  // Vite plans to remove `ssrLoadModule`, which needs no module runner.
  const { moduleGraph, runner } = ssr;
  let changes = new Map<string, string>();
  let change = Promise.withResolvers<void>();
  watcher.on('all', (event, file) => {
    if (!moduleGraph.getModulesByFile(file) && !isOtherSource(file)) return;
    if (event !== 'change' || !changes.has(file)) changes.set(file, event);
    change.resolve();
  });
  return {
    /** Resolves when the watcher is ready. Earlier changes are not noticed. */
    watching,

    /**
     * Imports a module by its path from the root, such as `/tools/token.ts`. Imports it again if it was invalidated.
     *
     * @throws LoadError
     */
    async import<Module>(path: string): Promise<Module> {
      try {
        return await runner.import<Module>(path);
      } catch (thrown) {
        throw toLoadError(thrown);
      }
    },

    /** Waits until a file changes. */
    nextChange: (): Promise<void> => change.promise,

    /**
     * Waits until no more files change. Returns a map from each changed file to its event: `add`, `change` or `unlink`.
     */
    async settledChanges(): Promise<Map<string, string>> {
      let count: number;
      do {
        count = changes.size;
        await sleep(SETTLE_MS);
      } while (count !== changes.size);
      const all = changes;
      changes = new Map();
      change = Promise.withResolvers();
      return all;
    },

    /**
     * Invalidates the module of a changed file, and those that import it. A file that is new or gone can change what
     * any import finds, so it invalidates all modules.
     */
    invalidate(file: string, event = 'change'): void {
      if (event === 'change' && moduleGraph.getModulesByFile(file)) moduleGraph.onFileChange(file);
      else moduleGraph.invalidateAll();
    },
  };
}
