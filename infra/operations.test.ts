import { expect, test } from 'vitest';
import { grantedOperations } from './operations.ts';

const getPlant = { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'get-plant' };

test('grants each operation the actions of its line, and the reading of access tokens', () => {
  const grant = (grants: Parameters<typeof grantedOperations>[1]) => grantedOperations([getPlant], grants)[0]?.grants;
  expect(grant({ getPlant: { plants: ['GetItem'] } })).toEqual({ plants: ['GetItem'], accessTokens: ['GetItem'] });
  expect(grant({ getPlant: { accessTokens: ['PutItem'] } })).toEqual({ accessTokens: ['GetItem', 'PutItem'] });
});

test.each([
  [{}, 'infra/operations.ts has no line for getPlant of openapi.yaml: add one '],
  [{ getPlant: {}, getPlants: {} }, 'infra/operations.ts has a line for getPlants, which openapi.yaml does not have.'],
])('rejects the lines %j in a sentence', (lines, message) => {
  expect(() => grantedOperations([getPlant], lines)).toThrow(message);
});
