import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchSources } from './watch.ts';

const root = mkdtempSync(join(tmpdir(), 'plant-store-watch-'));
let edits = 0;
const write = (file: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  // Another size each time, because two edits can have the same time.
  writeFileSync(join(root, file), 'x'.repeat(++edits));
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

test('notices an edit in a new folder, and a new name of the folder', async () => {
  write('functions/new/shared/code.ts');
  await nextChange();
  write('functions/new/shared/code.ts');
  await nextChange();
  renameSync(join(root, 'functions/new'), join(root, 'functions/newer'));
  await expect(nextChange()).resolves.toBeUndefined();
});

test('ignores what editors create beside a source, tests, generated files and documents', async () => {
  const ignored = [
    'functions/create-plant/4913',
    'functions/create-plant/.index.ts.swp',
    'functions/create-plant/.#index.ts',
    'functions/create-plant/index.test.ts',
    'functions/create-plant/contract.generated.js',
    'infra/notes.md',
    'README.md',
  ];
  let isNoticed = false;
  const change = nextChange().then(() => {
    isNoticed = true;
  });
  for (const file of ignored) {
    write(file);
    await sleep(60);
    rmSync(join(root, file));
    await sleep(60);
    expect(isNoticed, file).toBe(false);
  }
  write('infra/stack.ts');
  await change;
});
