import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { startServiceWithEngine } from './support/service.ts';

const { url } = await startServiceWithEngine();

const TITLE = 'the smoke test passes; if the contract rejects its plants, change the block at the top of smoke.ts';
test(TITLE, async () => {
  // By default, it uses the local run at PORT. In this folder, a developer's .env is not read.
  const options = { cwd: import.meta.dirname, env: { PORT: new URL(url).port } };
  const output = await new Promise<string>((resolve) => {
    const args = ['--test-reporter=tap', '../tools/smoke.ts'];
    execFile(process.execPath, args, options, (_, stdout, stderr) => resolve(stderr + stdout));
  });
  // The checks that failed, and why.
  expect(output.match(/^not ok .+|^ +The service .+/gm) ?? []).toEqual([]);
  expect(output).toContain('\n# fail 0\n');
});
