import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readTemplate } from '../local/template.ts';
import { runTool } from '../test/support/tool.ts';

/** A folder whose `cdk.out` has the maps of these operations: the first position of each is that of its `index.ts`. */
function projectWithMaps(...folders: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-maps-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'cdk.out'));
  for (const folder of folders) {
    const map = { version: 3, names: [], sources: [`../../functions/${folder}/index.ts`], mappings: 'AAAA' };
    writeFileSync(join(directory, 'cdk.out', `${folder}.mjs.map`), JSON.stringify(map));
  }
  return directory;
}

test('a position in a bundle becomes that of the source', async () => {
  const assembly = inject('assembly');
  const { routes, functions } = readTemplate(assembly);
  const createPlant = routes.find(({ method, resource }) => method === 'POST' && resource === '/plants')?.integration;
  const found = functions.find(
    ({ name }) => createPlant && 'functionName' in createPlant && name === createPlant.functionName,
  );
  const lines = readFileSync(join(found?.assetDirectory ?? '', 'index.mjs'), 'utf8').split('\n');
  const line = lines.findIndex((text) => text.includes('is in use by a different plant'));
  const column = lines[line]?.indexOf('is in use by a different plant') ?? 0;
  const { stdout } = await runTool('stack-trace', ['create-plant'], {
    directory: dirname(assembly),
    input: `Error: no\n    at a (file:///var/task/index.mjs:${line + 1}:${column + 1})\n`,
  });
  expect(stdout).toMatch(/^Error: no\n {4}at a \(\S*functions\/create-plant\/plants-table\.ts:\d+:\d+\)\n$/);
});

test('the folder that is given is that of the lines that name no operation', async () => {
  const input = '{"operation":"createPlant","stack":"at index.mjs:1:1"}\nat index.mjs:1:1\n';
  const directory = projectWithMaps('create-plant', 'get-plant');
  const { stdout } = await runTool('stack-trace', ['get-plant'], { directory, input });
  expect(stdout).toBe(
    '{"operation":"createPlant","stack":"at functions/create-plant/index.ts:1:1"}\nat functions/get-plant/index.ts:1:1\n',
  );
});

test('the only bundle that has a map needs no argument', async () => {
  const directory = projectWithMaps('create-plant', 'identity-provider');
  const { stdout } = await runTool('stack-trace', [], { directory, input: 'at index.mjs:1:1' });
  expect(stdout).toBe('at functions/create-plant/index.ts:1:1');
});

test.each<[string, string[], string, string]>([
  ['there is no map', [], 'at index.mjs:1:1', 'There is no source map in cdk.out; npx cdk synth makes them.\n'],
  [
    'nothing names the operation',
    ['create-plant', 'get-plant'],
    'at index.mjs:1:1',
    'Nothing tells which operation index.mjs:1:1 is of; name its FOLDER: create-plant or get-plant.\n\nUsage: ',
  ],
])('where %s, it ends with a sentence', async (_, folders, input, sentence) => {
  const { code, stdout, stderr } = await runTool('stack-trace', [], { directory: projectWithMaps(...folders), input });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.startsWith(sentence)).toBe(true);
});
