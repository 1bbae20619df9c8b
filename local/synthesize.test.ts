import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { projectRoot, synthesize } from './synthesize.ts';

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test('fails with the output of the app', async () => {
  await expect(synthesize(await folder(), { throwaway: 'yes' })).rejects.toThrow(
    'The stack could not be synthesized:\nThe context key "throwaway" was "yes"; it must be true or false.',
  );
});

test('makes the same template as cdk synth', async () => {
  const directory = await folder();
  const [own] = await Promise.all([
    synthesize(await folder()),
    promisify(execFile)('npx', ['cdk', 'synth', '--quiet', '--output', directory], { cwd: projectRoot }),
  ]);
  for (const file of ['PlantStore.template.json', 'PlantStore.assets.json', 'manifest.json']) {
    expect(JSON.parse(await readFile(join(own, file), 'utf8'))).toEqual(
      JSON.parse(await readFile(join(directory, file), 'utf8')),
    );
  }
});
