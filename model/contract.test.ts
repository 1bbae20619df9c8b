import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operationObject, parseContract, readOperations } from './contract.ts';

test('reads each method of a path as an operation, and ignores other keys of a path', () => {
  const others = ['put', 'post', 'options', 'head', 'patch', 'trace'];
  const contract = `
    paths:
      /plants/{id}:
        description: One plant
        parameters: []
        get: { operationId: getPlant }
        delete: { operationId: deleteOldPlant }
      /:
        ${others.map((method) => `${method}: { operationId: ${method} }`).join('\n        ')}`;
  expect(readOperations(parseContract(contract))).toEqual([
    { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'functions/get-plant' },
    { operationId: 'deleteOldPlant', method: 'DELETE', path: '/plants/{id}', folder: 'functions/delete-old-plant' },
    ...others.map((each) => ({
      operationId: each,
      method: each.toUpperCase(),
      path: '/',
      folder: `functions/${each}`,
    })),
  ]);
});

test.each([
  ['get: {}', 'GET /beds/{bed} was undefined'],
  ['get: { operationId: get-bed }', 'GET /beds/{bed} was "get-bed"'],
  ['get: { operationId: GetBed }', 'GET /beds/{bed} was "GetBed"'],
])('rejects the operation %s, whose operationId is not in camelCase', (operation, start) => {
  expect(() => readOperations(parseContract(`paths:\n  /beds/{bed}:\n    ${operation}`))).toThrow(
    `The operationId of ${start}; it must be letters and digits in camelCase, such as "getPlant".`,
  );
});

test.each(['', 'openapi: 3.1.0', 'paths:'])('rejects the contract "%s", which has no paths', (contract) => {
  expect(() => parseContract(contract)).toThrow('The contract has no paths.');
});

test('rejects a path parameter with a hyphen', () => {
  const contract = 'paths: { "/beds/{id}/{plant-id}": { get: { operationId: getPlant } } }';
  const message = 'has {plant-id}; its name must have only letters, digits and underscores';
  expect(() => readOperations(parseContract(contract))).toThrow(message);
});

test.each(readOperations())('$operationId has a handler in $folder', ({ folder }) => {
  const file = `${folder}/index.ts`;
  expect(existsSync(file), `${file} is missing: it must export the operation's handler.`).toBe(true);
});

test('an operation has the parameters of its path, and its own', () => {
  const [path, own] = ['id', 'limit'].map((name) => `{ name: ${name}, in: query, schema: { type: string } }`);
  const contract = parseContract(
    `paths: { /plants: { parameters: [${path}], get: { operationId: listPlants, parameters: [${own}] } } }`,
  );
  const { parameters } = operationObject(contract, { method: 'GET', path: '/plants' });
  expect(parameters.map(({ name }) => name)).toEqual(['id', 'limit']);
});
