import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';
import { startServiceWithEngine } from './support/service.ts';

const { url } = await startServiceWithEngine();

const TITLE = 'the smoke test passes; if the contract rejects its plants, change the block at the top of smoke.ts';
test(TITLE, async () => {
  const env = { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN };
  const output = await new Promise<string>((resolve) => {
    // In this folder, a developer's .env is not read.
    const options = { cwd: import.meta.dirname, env };
    execFile(process.execPath, ['--test-reporter=tap', 'smoke/smoke.ts'], options, (_, stdout, stderr) =>
      resolve(stderr + stdout),
    );
  });
  // The checks that failed, and why.
  expect(output.match(/^not ok .+|^ +The service .+/gm) ?? []).toEqual([]);
  expect(output).toContain('\n# fail 0\n');
});
