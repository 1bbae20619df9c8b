import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An editor or git can change a file several times when it saves. */
const SETTLE_MS = 50;

/**
 * Watches the contract, the functions and the tables of a project. Returns a function that waits for the next change, or
 * returns immediately if there was one since its last call.
 *
 * It watches folders, because a watched file is lost when git or an editor replaces it.
 */
export function watchSources(root: string): () => Promise<void> {
  let change = Promise.withResolvers<void>();
  for (const folder of ['functions', 'infra']) {
    watch(join(root, folder), { recursive: true }, (_, file) => {
      // A change of the contract writes the generated files.
      if (!file?.includes('.generated.')) change.resolve();
    });
  }
  watch(root, (_, file) => {
    if (file === 'openapi.yaml') change.resolve();
  });
  return async () => {
    await change.promise;
    await sleep(SETTLE_MS);
    change = Promise.withResolvers();
  };
}
