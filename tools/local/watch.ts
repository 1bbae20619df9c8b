import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An editor or git can change a file several times when it saves. */
const SETTLE_MS = 50;

/**
 * Watches the contract, `functions/` and `infra/` of a project. Returns a function that waits for the next change, or
 * returns immediately if there was one since its last call.
 *
 * It watches each folder by itself: on Linux, a watched file and a recursive watch lose a file that git or an editor
 * replaces.
 */
export function watchSources(root: string): () => Promise<void> {
  let change = Promise.withResolvers<void>();
  const watchFolder = (folder: string) =>
    watch(folder, (_, file) => {
      // A change of the contract writes the generated files.
      if (!file?.includes('.generated.')) change.resolve();
    });
  /** Watches all folders again, because there can be new ones. */
  const watchFolders = async (): Promise<FSWatcher[]> => {
    try {
      return sourceFolders(root).map(watchFolder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // git has just removed a folder.
      await sleep(SETTLE_MS);
      return watchFolders();
    }
  };
  let watchers = sourceFolders(root).map(watchFolder);
  watch(root, (_, file) => {
    if (file === 'openapi.yaml') change.resolve();
  });
  return async () => {
    await change.promise;
    await sleep(SETTLE_MS);
    change = Promise.withResolvers();
    const previous = watchers;
    watchers = await watchFolders();
    for (const watcher of previous) watcher.close();
  };
}

/** Returns the paths of `functions/`, `infra/` and all folders in them. */
function sourceFolders(root: string): string[] {
  return ['functions', 'infra'].flatMap((name) => {
    const entries = readdirSync(join(root, name), { recursive: true, withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory());
    return [join(root, name), ...folders.map((folder) => join(folder.parentPath, folder.name))];
  });
}
