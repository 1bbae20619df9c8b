import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An editor or git can change a file several times when it saves. */
const SETTLE_MS = 50;

/**
 * Watches the sources of a project: `openapi.yaml`, and the code in `functions/` and `infra/`. Returns a function that
 * waits for the next change of them, or returns immediately if there was one since its last call.
 *
 * It watches each folder by itself: on Linux, a watched file and a recursive watch lose a file that git or an editor
 * replaces. It compares the sources, because an editor also creates and removes other files in the same folders.
 */
export function watchSources(root: string): () => Promise<void> {
  let event = Promise.withResolvers<void>();
  let watchers: FSWatcher[] = [];
  /** Watches all folders again, because there can be new ones. Returns the versions of the sources. */
  const watchFolders = (): string => {
    const previous = watchers;
    watchers = readSources(root).folders.map((folder) => watch(folder, () => event.resolve()));
    for (const watcher of previous) watcher.close();
    // Read again, because a file can have been saved before its folder was watched.
    return readSources(root).versions;
  };
  let loaded = watchFolders();
  return async () => {
    for (;;) {
      await event.promise;
      await sleep(SETTLE_MS);
      event = Promise.withResolvers();
      try {
        const versions = watchFolders();
        if (versions === loaded) continue;
        loaded = versions;
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        // git has just removed a folder.
        event.resolve();
      }
    }
  };
}

/** Returns the folders that can contain sources, and a text that differs after each change of a source. */
function readSources(root: string): { folders: string[]; versions: string } {
  const roots = ['functions', 'infra'].map((name) => join(root, name));
  const entries = roots.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
  const paths = (some: typeof entries) => some.map(({ parentPath, name }) => join(parentPath, name));
  const files = paths(entries.filter((entry) => entry.isFile() && isCode(entry.name)));
  const versions = [join(root, 'openapi.yaml'), ...files].map((file) => {
    const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {};
    return `${file} ${mtimeMs} ${size}`;
  });
  return {
    folders: [root, ...roots, ...paths(entries.filter((entry) => entry.isDirectory()))],
    versions: versions.join('\n'),
  };
}

/** Returns true for the name of a file that the functions can import, except those that `npm run generate` writes. */
function isCode(name: string): boolean {
  return /^[^.].*\.[jt]s$/.test(name) && !/\.(test|generated)\./.test(name);
}
