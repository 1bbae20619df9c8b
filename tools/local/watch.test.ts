import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { watchSources } from './watch.ts';

const root = mkdtempSync(join(tmpdir(), 'plant-store-watch-'));
const write = (file: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), '');
};
const files = ['openapi.yaml', 'infra/stack.ts', 'functions/create-plant/index.ts'];
files.forEach(write);
const nextChange = watchSources(root);

test.each(files)('notices an edit of %s after git or an editor has replaced the file', async (file) => {
  rmSync(join(root, file));
  write(file);
  await nextChange();
  write(file);
  await expect(nextChange()).resolves.toBeUndefined();
});

test('notices an edit in a new folder', async () => {
  write('functions/new/shared/code.ts');
  await nextChange();
  write('functions/new/shared/code.ts');
  await expect(nextChange()).resolves.toBeUndefined();
});
