import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../model/development-token.ts';
import { readExamples } from '../../tools/generate/examples.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { plantWith } from '../support/plant.ts';
import { copyProject } from '../support/project-copy.ts';

/* A copy of the project with the examples and a new member of Plant, after the steps of docs/changing.md. */

const project = closedAtEnd(copyProject());
const examples = readExamples().map(({ file }) => basename(file, '.yaml'));

/** Runs a command, which must succeed. */
async function run(command: string, variables: Record<string, string> = {}): Promise<void> {
  const { code, stdout, stderr } = await project.run(command, variables);
  expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
}

const read = (file: string) => readFileSync(join(project.directory, file), 'utf8');

/** Inserts text below a line of a file. */
function paste(file: string, line: string, text: string): void {
  const source = read(file);
  expect(source).toContain(line);
  writeFileSync(join(project.directory, file), source.replace(line, `${line}${text}`));
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
    paste('infra/grants.ts', "  createPlant: { plants: ['PutItem'] },\n", `${grants},\n`);
    const existing = '  /plants:\n';
    if (paths.startsWith(existing)) paste('openapi.yaml', existing, paths.slice(existing.length));
    else paste('openapi.yaml', '\npaths:\n', paths);
  }
  await run('npm run generate');
});

test('the moved examples are well-typed, and their tests pass', async () => {
  await run('npx tsc');
  await run(`npx vitest run ${examples.map((example) => `functions/${example}`).join(' ')} test/database-calls`, {
    VITEST: '',
  });
});

test('the local run serves the examples and the member', async () => {
  const { url } = await project.start('npm start');
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
