import { expect, test } from 'vitest';
import { grantedOperations, ownId } from './operations.ts';

const getPlant = { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'get-plant' };

const dropPlant = { operationId: 'dropPlant', method: 'DELETE', path: '/plants/{id}', folder: 'drop-plant' };

test('each operation may do what its line says, and read the access tokens', () => {
  const lines: Parameters<typeof grantedOperations>[1] = {
    getPlant: { plants: ['GetItem'] },
    dropPlant: { accessTokens: ['PutItem'] },
  };
  expect(grantedOperations([getPlant, dropPlant], lines)).toEqual([
    { ...getPlant, grants: { plants: ['GetItem'], accessTokens: ['GetItem'] } },
    { ...dropPlant, grants: { accessTokens: ['GetItem', 'PutItem'] } },
  ]);
});

test('an operation without a line is refused in a sentence', () => {
  expect(() => grantedOperations([getPlant], {})).toThrow(
    `infra/operations.ts has no line for the operation getPlant of openapi.yaml: add one that says what it may do on which table, as in "getPlant: { plants: ['GetItem'] },".`,
  );
});

test('a line without an operation is refused in a sentence', () => {
  expect(() => grantedOperations([getPlant], { getPlant: {}, getPlants: {} })).toThrow(
    'infra/operations.ts has a line for getPlants, which is no operation of openapi.yaml: take the line out, or name the operation as openapi.yaml does.',
  );
});

test('what createPlant has one of keeps the id under which it was deployed; of others it has their name', () => {
  expect(ownId({ ...getPlant, operationId: 'createPlant' }, 'Release')).toBe('Release');
  expect(ownId(getPlant, 'Release')).toBe('GetPlantRelease');
});
