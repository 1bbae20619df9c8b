import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../model/development-token.ts';
import { readExamples } from '../../tools/generate/examples.ts';
import { makeClientFolder } from '../support/client-folder.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { plantWith } from '../support/plant.ts';
import { copyProject } from '../support/project-copy.ts';

/* A copy of the project with the examples and a new member of Plant, after the steps of docs/changing.md. */

const project = closedAtEnd(copyProject());
const examples = readExamples().map(({ file }) => basename(file, '.yaml'));

let url = '';

/** Runs a command, which must succeed. */
async function run(command: string): Promise<void> {
  const { code, stdout, stderr } = await project.run(command);
  expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
}

const read = (file: string) => readFileSync(join(project.directory, file), 'utf8');

/** Inserts text below a line of a file. */
function paste(file: string, line: string, text: string): void {
  const source = read(file);
  expect(source).toContain(line);
  // A function, because a text could contain a pattern such as "$'".
  writeFileSync(
    join(project.directory, file),
    source.replace(line, () => `${line}${text}`),
  );
}

beforeAll(async () => {
  const care =
    '{ type: object, properties: { notes: { type: array, items: { type: string } }, seeds: { type: integer } } }';
  paste('openapi.yaml', '        tag:\n          type: string\n', `        care: ${care}\n`);
  for (const example of examples) {
    const file = `examples/${example}.yaml`;
    const [, grants = '', paths = ''] = /^grants:\n(.*)\npaths:\n(.*)/s.exec(read(file)) ?? [];
    await run(`mv examples/${example} functions/`);
    await run(`mv examples/${example}.json events/`);
    await run(`rm ${file}`);
    paste('infra/grants.ts', 'const GRANTS: Record<string, OperationGrants> = {\n', `${grants},\n`);
    const existing = '  /plants:\n';
    if (paths.startsWith(existing)) paste('openapi.yaml', existing, paths.slice(existing.length));
    else paste('openapi.yaml', '\npaths:\n', paths);
  }
  await run('npm run generate');
  ({ url } = await project.start('npm start'));
});

test('the moved examples are well-typed, and their tests pass', async () => {
  await run('npx tsc');
  const folders = examples.map((example) => `functions/${example}`);
  await run(['npx vitest run', ...folders, 'test/database-calls'].join(' '));
});

test('the local run serves the examples and the member', async () => {
  const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' };
  const send = async (method: string, path: string, body: string | null = null) =>
    (await fetch(new URL(path, url), { method, headers, body })).text();
  const members = JSON.stringify(plantWith()).slice(1, -1);
  const plant = `{${members},"care":{"notes":["dry","📝"],"seeds":9007199254740993}}`;
  const reordered = `{"care":{"seeds":9007199254740993,"unknown":null,"notes":["dry","📝"]},${members}`;
  expect(await send('POST', '/plants', `{"id":-9007199254740993,${plant.slice(1)}`)).toBe(plant);
  expect(await send('POST', '/plants', `${reordered},"id":-9007199254740993}`)).toBe(plant);
  expect(await send('POST', '/plants', `{"id":-9007199254740993,${members}}`)).toContain('"error":409');
  expect(await send('GET', '/plants/-9007199254740993')).toBe(plant);
  expect(await send('GET', '/plants/-9007199254740992')).toContain('"error":404');
  expect(await send('GET', '/plants?limit=1')).toContain(`{"plants":[{"id":-9007199254740993,${plant.slice(1)}]`);
});

test('the client of docs/clients.md pages through all plants', async () => {
  const client = makeClientFolder(read('openapi.yaml'));
  const ids = ['-9223372036854775808', '9223372036854775806', '9223372036854775807'];
  const program = `
    import { plantStore } from './client.ts';
    const client = plantStore('${new URL(url).origin}', '${DEVELOPMENT_TOKEN}');
    for (const id of [${ids.map((id) => `${id}n`)}]) await client.POST('/plants', { body: { id, name: 'Aloe' } });
    let cursor: string | undefined;
    do {
      const query: { limit: number; cursor?: string } = { limit: 1, ...(cursor !== undefined && { cursor }) };
      const { data, error } = await client.GET('/plants', { params: { query } });
      if (error) throw new Error(error.message);
      for (const plant of data.plants) if (plant.name === 'Aloe') console.log(String(plant.id));
      cursor = data.cursor;
    } while (cursor !== undefined);`;
  const output = await client.run(program);
  expect(output.trim().split('\n').toSorted()).toEqual(ids);
});
