import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';

/*
 * Adds DELETE /plants/{id}, GET /plants and an optional number `height` of Plant to a copy of the project, as
 * docs/changing.md describes it: in the contract, in functions/, infra/ and events/. The copy's tests must pass.
 */

const fixture = import.meta.dirname;

const project = closedAtEnd(copyProject());
let run: LocalRun;
beforeAll(async () => {
  addToContract();
  cpSync(join(fixture, 'project'), project.directory, { recursive: true });
  insertInto('infra/operations.ts', /(?<=\n {2}createPlant: .*\n)/, "deletePlant: { plants: ['DeleteItem'] },\n");
  insertInto('infra/operations.ts', /(?<=\n {2}createPlant: .*\n)/, "listPlants: { plants: ['Scan'] },\n");
  insertInto(
    'functions/pre-traffic-hook/all-checks.ts',
    /(?<=createPlantChecks,\n)/,
    'deletePlant: deletePlantChecks,\nlistPlants: listPlantsChecks,\n',
  );
  insertInto(
    'functions/pre-traffic-hook/all-checks.ts',
    /^/,
    "import { deletePlantChecks } from '../delete-plant/checks.ts';\n",
  );
  insertInto(
    'functions/pre-traffic-hook/all-checks.ts',
    /^/,
    "import { listPlantsChecks } from '../list-plants/checks.ts';\n",
  );
  const deletion = { httpMethod: 'DELETE', resource: '/plants/{id}', path: '/plants/1', pathParameters: { id: '1' } };
  addEvent('delete-plant', deletion);
  const query = { queryStringParameters: { limit: '1' }, multiValueQueryStringParameters: { limit: ['1'] } };
  addEvent('list-plants', { httpMethod: 'GET', ...query });
  for (const command of ['npm run generate', 'npx biome check --write']) {
    const { code, stderr } = await project.run(command);
    expect(code, stderr).toBe(0);
  }
  run = await project.start('npm start');
});

function addToContract(): void {
  const file = join(project.directory, 'openapi.yaml');
  const contract = parseDocument(readFileSync(file, 'utf8'));
  const { paths, components } = parse(readFileSync(join(fixture, 'openapi.yaml'), 'utf8'));
  const add = (place: string[], value: unknown) => {
    expect(contract.hasIn(place), `openapi.yaml has ${place.join(' ')}: delete test/added-operations/`).toBe(false);
    contract.setIn(place, contract.createNode(value));
  };
  for (const [path, methods] of Object.entries<object>(paths)) {
    for (const [method, operation] of Object.entries(methods)) add(['paths', path, method], operation);
  }
  const { height } = components.schemas.Plant.properties;
  add(['components', 'schemas', 'Plant', 'properties', 'height'], height);
  writeFileSync(file, String(contract));
}

/** Inserts a text into a file of the copy, at the place that the pattern matches. */
function insertInto(file: string, place: RegExp, inserted: string): void {
  const path = join(project.directory, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(place);
  writeFileSync(path, text.replace(place, inserted));
}

/** Writes a sample event: create-plant with changes. */
function addEvent(name: string, changes: object): void {
  const eventFile = (event: string) => join(project.directory, 'events', `${event}.json`);
  const sample = JSON.parse(readFileSync(eventFile('create-plant'), 'utf8'));
  writeFileSync(eventFile(name), JSON.stringify({ ...sample, body: null, ...changes }));
}

async function send(method: string, path: string, body?: string): Promise<unknown> {
  const response = await fetch(new URL(path, run.url), {
    method,
    headers: { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });
  return response.json();
}
const create = (body: string) => send('POST', '/plants', body);

/** The tests that depend on the operations. The other tests would only be repeated. */
const TESTS =
  'functions/pre-traffic-hook functions/create-plant functions/delete-plant infra/api infra/monitoring infra/operations infra/stack test/';

test('the copy with three operations passes its tests', async () => {
  const { code, stdout, stderr } = await project.run(`npm test -- ${TESTS}`, { VITEST: '', NODE_ENV: '' });
  expect(code, `${stdout.slice(-5000)}\n${stderr.slice(-5000)}`).toBe(0);
});

test('the smoke test runs the checks of all operations, and passes', async () => {
  const { code, stdout } = await project.run(`npm run --silent smoke -- ${new URL(run.url).origin}`, {
    PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN,
  });
  expect(code, stdout).toBe(0);
  for (const operation of ['createPlant', 'deletePlant', 'listPlants'])
    expect(stdout).toContain(`ok    ${operation}: `);
});

test('lists plants in pages', async () => {
  for (let id = 201; id <= 203; id += 1) await create(`{"id":${id},"name":"listed ${id}"}`);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const page = (await send('GET', `/plants?limit=2${query}`)) as { plants: { name: string }[]; cursor?: string };
    expect(page.plants.length).toBeLessThanOrEqual(2);
    names.push(...page.plants.map(({ name }) => name));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(names).toEqual(expect.arrayContaining(['listed 201', 'listed 202', 'listed 203']));
  expect(await send('GET', '/plants?limit=0')).toMatchObject({ error: 400 });
});

test('validates, stores and returns a new member, and compares it when a creation is repeated', async () => {
  const body = '{"id":101,"name":"Monstera","height":1.5}';
  for (let times = 0; times < 2; times += 1) expect(await create(body)).toEqual({ name: 'Monstera', height: 1.5 });
  for (const height of ['', ',"height":1.25']) {
    expect(await create(`{"id":101,"name":"Monstera"${height}}`)).toMatchObject({ error: 409 });
  }
  for (const height of ['"tall"', '1e300', 'null']) {
    const message = expect.stringMatching(/^The member height was .*; it must be a number/);
    expect(await create(`{"id":102,"name":"Monstera","height":${height}}`)).toEqual({ error: 400, message });
  }
  expect(await send('DELETE', '/plants/101')).toEqual({ name: 'Monstera', height: 1.5 });
});
