import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { prepareSynthesis, projectRoot, synthesize } from './synthesize.ts';

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test('what the app refuses is told in its words', async () => {
  await expect(synthesize(await folder(), { throwaway: 'yes' })).rejects.toThrow(
    'The stack could not be synthesized:\nThe context key "throwaway" was "yes"; it must be true or false.',
  );
});

test('an app that is cancelled while it waits writes nothing', async () => {
  const directory = await folder();
  const synthesis = prepareSynthesis(directory);
  synthesis.cancel();
  await expect(synthesis.run()).rejects.toThrow('The stack could not be synthesized');
  await expect(readFile(join(directory, 'manifest.json'))).rejects.toThrow('ENOENT');
});

test('the template is the one that cdk synth makes', async () => {
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
