import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../local/development-token.ts';
import { copyProject, type LocalRun, type ProjectCopy } from '../support/project-copy.ts';

/*
 * Lays a second operation, GET /plants/{id}, and an optional number `height` of Plant over a copy of the
 * project, as someone new to it would write them: a path and a line for the contract, a folder for functions/,
 * a line for infra/, a sample event, and nothing else. The copy's own tests must hold for both operations.
 */

const fixture = import.meta.dirname;

let project: ProjectCopy;
let run: LocalRun;
beforeAll(async () => {
  project = copyProject();
  insert('path.yaml', 'openapi.yaml', /^components:$/m);
  insert(
    'member.yaml',
    'openapi.yaml',
    /(?<=\n {4}Plant:\n {6}type: object\n {6}required: \[name\]\n {6}properties:\n)/,
  );
  insert('infra-line.txt', 'infra/operations.ts', /(?<= {2}createPlant: .*\n)/);
  const generated = await project.run('npm run generate');
  expect(generated.code, generated.stderr).toBe(0);
  for (const room of ['functions', 'events']) {
    cpSync(join(fixture, room), join(project.directory, room), { recursive: true });
  }
  run = await project.start('npm start');
});
afterAll(() => project.remove());

/** Puts a part of the fixture into a file of the copy, at the one place that the pattern finds. */
function insert(part: string, file: string, place: RegExp): void {
  const path = join(project.directory, file);
  const text = readFileSync(path, 'utf8');
  const inserted = readFileSync(join(fixture, part), 'utf8');
  const [line = ''] = inserted.split('\n');
  expect(text, `${file} has it already: test/second-operation/ has done its work, and goes`).not.toContain(`\n${line}`);
  expect(text.match(new RegExp(place.source, `${place.flags}g`)), `${place} in ${file}`).toHaveLength(1);
  const at = text.search(place);
  writeFileSync(path, text.slice(0, at) + inserted + text.slice(at));
}

async function send(method: string, path: string, body?: string): Promise<unknown> {
  const response = await fetch(new URL(path, run.url), {
    method,
    headers: { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });
  const answer: unknown = await response.json();
  expect(response.status).toBe(typeof answer === 'object' && answer && 'error' in answer ? 400 : 200);
  return answer;
}
const create = (body: string) => send('POST', '/plants', body);

test.each(['npm test', 'npx vitest run --project local-run --project dynamodb-local'])(
  'with both operations, the copy passes %s',
  async (command) => {
    const { code, stdout, stderr } = await project.run(command, { VITEST: '', NODE_ENV: '' });
    expect(code, `${stdout.slice(-5000)}\n${stderr.slice(-5000)}`).toBe(0);
  },
);

test('the smoke test passes, with the checks of both operations', async () => {
  const { code, stdout } = await project.run(`npm run --silent smoke -- ${new URL(run.url).origin} --json`, {
    PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN,
  });
  const report: { failed: number; checks: { title: string }[] } = JSON.parse(stdout);
  expect({ code, failed: report.failed }).toEqual({ code: 0, failed: 0 });
  for (const route of ['POST /plants', 'GET /plants/{id}']) {
    expect(report.checks.filter(({ title }) => title.includes(route))).not.toEqual([]);
  }
});

test('a plant is got as it was created; an id without one is error 404, one that is no int64 error 400', async () => {
  await create('{"id":4611686018427387904,"name":"Monstera","tag":"climber"}');
  expect(await send('GET', '/plants/4611686018427387904')).toEqual({ name: 'Monstera', tag: 'climber' });
  expect(await send('GET', '/plants/2')).toMatchObject({ error: 404, message: 'There is no plant with the id 2.' });
  for (const id of ['x', '1.0', '9223372036854775808']) {
    const message = expect.stringMatching(`^The parameter id was "${id}"; it must be a whole number from -9223372036`);
    expect(await send('GET', `/plants/${id}`)).toEqual({ error: 400, message });
  }
  expect(await send('DELETE', '/plants/1')).toMatchObject({ error: 404 });
});

test('a new member is checked, stored, answered, and compared when a creation is repeated', async () => {
  const body = '{"id":101,"name":"Monstera","height":1.5}';
  for (let times = 0; times < 2; times += 1) expect(await create(body)).toEqual({ name: 'Monstera', height: 1.5 });
  expect(await send('GET', '/plants/101')).toEqual({ name: 'Monstera', height: 1.5 });
  for (const height of ['', ',"height":1.25']) {
    expect(await create(`{"id":101,"name":"Monstera"${height}}`)).toMatchObject({ error: 409 });
  }
  for (const height of ['"tall"', '1e300', 'null']) {
    const message = expect.stringMatching(/^The member height was .*; it must be a number/);
    expect(await create(`{"id":102,"name":"Monstera","height":${height}}`)).toEqual({ error: 400, message });
  }
});

test('a plant stored before the member was there is still what it was', async () => {
  expect(await create('{"id":103,"name":"Monstera"}')).toEqual({ name: 'Monstera' });
  expect(await create('{"id":103,"name":"Monstera"}')).toEqual({ name: 'Monstera' });
  expect(await create('{"id":103,"name":"Monstera","height":1}')).toMatchObject({ error: 409 });
});
