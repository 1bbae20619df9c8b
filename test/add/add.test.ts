import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readOperations } from '../../infra/contract.ts';
import { projectRoot } from '../../infra/project-root.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { plantWith } from '../support/plant.ts';
import { copyProject } from '../support/project-copy.ts';

/* A copy of the project with a new member of Plant, an index, and all examples (docs/changing.md). */

const MEMBER =
  'care: { type: object, properties: { notes: { type: array, items: { type: string } }, seeds: { type: integer } } }';
const INDEX = "indexes: { byTag: { name: 'tag', type: 'S' } }";
const entries = readdirSync(join(projectRoot, 'examples'), { withFileTypes: true });
const examples = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
const project = closedAtEnd(copyProject());

/** Runs a command, which must succeed. Returns its output. */
async function run(command: string, variables: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await project.run(command, variables);
  expect(code, `${command}\n${stdout.slice(-20_000)}\n${stderr.slice(-20_000)}`).toBe(0);
  return stdout;
}

/** Replaces a text in a file. */
function edit(path: string, from: string | RegExp, to: string): void {
  const file = join(project.directory, path);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(file, text.replace(from, to));
}

beforeAll(async () => {
  const tag = '        tag:\n          type: string\n';
  edit('openapi.yaml', tag, `${tag}          minLength: 1\n          maxLength: 512\n        ${MEMBER}\n`);
  edit('infra/table-keys.ts', "{ key: { name: 'id', type: 'N' } }", `{ key: { name: 'id', type: 'N' }, ${INDEX} }`);
  const added = readOperations().map(({ folder }) => folder);
  for (const example of examples) if (!added.includes(example)) await run(`npm run add -- ${example}`);
});

test.each([
  ['an unknown example', 'water-plant', `EXAMPLE was "water-plant"; it must be one of ${examples.join(', ')}.\n`],
  ['an example again', String(examples[0]), `functions/${examples[0]} exists already; nothing was added.\n`],
])('does not add %s', async (_, example, message) => {
  const stderr = expect.stringContaining(message);
  expect(await project.run(`npm run --silent add -- ${example}`)).toMatchObject({ code: 1, stdout: '', stderr });
});

test('the project with the member and all examples passes its tests', async () => {
  await run('npm test', { VITEST: '', NODE_ENV: '' });
});

test('the local run serves the member and all examples, and passes the smoke test', async () => {
  const { url } = await project.start('npm start');
  const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' };
  const send = async (method: string, path: string, body: string | null = null) =>
    (await fetch(new URL(path, url), { method, headers, body })).text();
  const failed = (error: number) => expect.stringMatching(`^{"error":${error},`);
  const members = JSON.stringify(plantWith({ tag: 'a b' })).slice(1, -1);
  const [care, reordered] = [
    '"notes":["dry","📝"],"seeds":9007199254740993',
    '"seeds":9007199254740993,"notes":["dry","📝"]',
  ];
  const plant = `{${members},"care":{${care}}}`;
  expect(await send('POST', '/plants', `{"id":1,${members},"care":{${care}}}`)).toBe(plant);
  expect(await send('POST', '/plants', `{"care":{${reordered},"unknown":null},${members},"id":1}`)).toBe(plant);
  expect(await send('POST', '/plants', `{"id":1,${members}}`)).toEqual(failed(409));
  const wrong = 'The member care/notes/0 was null; it must be a string of well-formed Unicode.';
  expect(await send('POST', '/plants', `{"id":2,${members},"care":{"notes":[null]}}`)).toContain(wrong);
  const page = `{"plants":[{"id":1,${plant.slice(1)}]}`;
  expect(await send('GET', '/plants')).toBe(page);
  expect(await send('GET', '/tags/a%20b/plants')).toBe(page);
  expect(await send('GET', '/plants/1')).toBe(plant);
  const updated = `{${members}}`;
  expect(await send('PUT', '/plants/1', updated)).toBe(updated);
  expect(await send('PUT', '/plants/2', updated)).toEqual(failed(404));
  expect(await send('DELETE', '/plants/1')).toBe(updated);
  expect(await send('GET', '/plants/1')).toEqual(failed(404));

  await run('npm run --silent smoke');
});
