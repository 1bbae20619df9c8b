import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseContract, readOperations } from '../../infra/contract.ts';
import { projectRoot } from '../../infra/project-root.ts';
import { addExample } from './example.ts';

const FOUND = '/found/{id}';
const PARTS = ['openapi.yaml', 'infra/grants.ts', 'functions', 'events/create-plant.json'];

/**
 * Copies the files that an example changes. Adds two examples of the same path, find-plant and lose-plant: the project may
 * have get-plant and delete-plant already.
 */
function copyParts(): string {
  const root = mkdtempSync(join(tmpdir(), 'plant-store-add-'));
  for (const path of PARTS) cpSync(join(projectRoot, path), join(root, path), { recursive: true });
  for (const [from, to] of [
    ['get', 'find'],
    ['delete', 'lose'],
  ] as const) {
    for (const file of readdirSync(join(projectRoot, `examples/${from}-plant`))) {
      const renamed = (text: string) => text.replaceAll(`${from}-plant`, `${to}-plant`);
      cpSync(join(projectRoot, `examples/${from}-plant`, file), join(root, `examples/${to}-plant`, renamed(file)));
      edit(root, `examples/${to}-plant/${renamed(file)}`, (text) =>
        renamed(text).replaceAll(`${from}Plant`, `${to}Plant`).replace('/plants/{id}:', `${FOUND}:`),
      );
    }
  }
  return root;
}

function edit(root: string, path: string, change: (text: string) => string): void {
  const text = readFileSync(join(root, path), 'utf8');
  writeFileSync(join(root, path), change(text));
}

/** The text of each file of a folder, by path. */
function textsOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(root, path)).isFile(),
  );
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

test('adds operations to a new and to an existing path, and keeps comments and order', () => {
  const root = copyParts();
  edit(root, CONTRACT, (text) =>
    text.replace('paths:\n', 'paths:\n# Inside.\n\n').replace('components:\n', '# Of components.\n\ncomponents:\n'),
  );
  const before = textsOf(root);
  const operations = readOperations(parseContract(before['openapi.yaml']));
  addExample('find-plant', root);
  addExample('lose-plant', root);
  const after = textsOf(root);
  const route = { path: FOUND };
  expect(readOperations(parseContract(after['openapi.yaml']))).toEqual([
    ...operations,
    { operationId: 'findPlant', method: 'GET', folder: 'find-plant', ...route },
    { operationId: 'losePlant', method: 'DELETE', folder: 'lose-plant', ...route },
  ]);
  for (const [path, text] of Object.entries(before)) {
    const kept = text.split('\n');
    // Each line is found in the order in which it was.
    for (const line of String(after[path]).split('\n')) if (line === kept[0]) kept.shift();
    expect(kept, path).toEqual([]);
  }
  expect(after['openapi.yaml']).toMatch(/There is no plant with the id 1. }\n# Of components.\n\ncomponents:\n/);
  expect(after['infra/grants.ts']).toContain(
    "  findPlant: { plants: ['GetItem'] },\n  losePlant: { plants: ['DeleteItem'] },\n};\n",
  );
  for (const file of ['index.ts', 'find-plant.ts', 'find-plant.test.ts', 'contract.generated.js']) {
    expect(after).toHaveProperty([`functions/find-plant/${file}`]);
  }
  const pathParameters = { id: '1' };
  const context = { resourcePath: FOUND, httpMethod: 'GET', path: '/v1/found/1' };
  expect(JSON.parse(after['events/find-plant.json'] ?? '')).toMatchObject({
    ...{ httpMethod: 'GET', resource: FOUND, path: '/found/1', pathParameters, requestContext: context },
    ...{ queryStringParameters: null, body: null },
  });
});

const [CONTRACT, GRANTS] = ['openapi.yaml', 'infra/grants.ts'];
test.each([
  [
    'the path and method exist',
    CONTRACT,
    'paths:',
    `paths:\n  ${FOUND}: { get: { operationId: x } }`,
    `GET ${FOUND} (x)`,
  ],
  ['the operation exists', CONTRACT, 'createPlant', 'findPlant', 'has POST /plants (findPlant) already'],
  ['the paths have another form', CONTRACT, '\npaths:', '\n"paths":', 'openapi.yaml has no line "paths:"'],
  ['a schema is missing', CONTRACT, '    Plant:', '    Plant2:', '"#/components/schemas/Plant" does not exist'],
  ['the list of grants is missing', GRANTS, 'const GRANTS', 'const grants', 'infra/grants.ts has no line "const'],
  ['its grants exist', GRANTS, '  createPlant:', '  findPlant:', 'infra/grants.ts has findPlant already'],
])('changes nothing if %s', (_, path, from, to, message) => {
  const root = copyParts();
  edit(root, path, (text) => text.replace(from, to));
  const before = textsOf(root);
  expect(() => addExample('find-plant', root)).toThrow(message);
  expect(textsOf(root)).toEqual(before);
  expect(existsSync(join(root, 'functions/find-plant'))).toBe(false);
});

test('changes nothing if the example was added before', () => {
  const root = copyParts();
  addExample('find-plant', root);
  const before = textsOf(root);
  expect(() => addExample('find-plant', root)).toThrow('functions/find-plant exists already');
  expect(textsOf(root)).toEqual(before);
});
