import { expect, test } from 'vitest';
import { grantedOperations } from './operations.ts';

const getPlant = { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'get-plant' };
const dropPlant = { operationId: 'dropPlant', method: 'DELETE', path: '/plants/{id}', folder: 'drop-plant' };

test('grants each operation the actions of its line, and the reading of access tokens', () => {
  const lines: Parameters<typeof grantedOperations>[1] = {
    getPlant: { plants: ['GetItem'] },
    dropPlant: { accessTokens: ['PutItem'] },
  };
  expect(grantedOperations([getPlant, dropPlant], lines)).toEqual([
    { ...getPlant, grants: { plants: ['GetItem'], accessTokens: ['GetItem'] } },
    { ...dropPlant, grants: { accessTokens: ['GetItem', 'PutItem'] } },
  ]);
});

test.each([
  [{}, 'infra/operations.ts has no line for the operation getPlant of openapi.yaml: add one '],
  [{ getPlant: {}, getPlants: {} }, 'infra/operations.ts has a line for getPlants, which openapi.yaml does not have: '],
])('rejects the lines %j in a sentence', (lines, message) => {
  expect(() => grantedOperations([getPlant], lines)).toThrow(message);
});
