import { expect, test } from 'vitest';
import { grantedOperations } from './operations.ts';

const getPlant = { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'get-plant' };

test('grants each operation its own actions and read access to the access tokens', () => {
  const grant = (grants: Parameters<typeof grantedOperations>[1]) => grantedOperations([getPlant], grants)[0]?.grants;
  expect(grant({ getPlant: { plants: ['GetItem'] } })).toEqual({ plants: ['GetItem'], accessTokens: ['GetItem'] });
  expect(grant({ getPlant: { accessTokens: ['PutItem'] } })).toEqual({ accessTokens: ['GetItem', 'PutItem'] });
});

test.each([
  [{}, 'GRANTS in infra/operations.ts does not have the operation getPlant of openapi.yaml. Add a line '],
  [{ getPlant: {}, getPlants: {} }, 'GRANTS in infra/operations.ts has the operation getPlants, which openapi.yaml '],
])('rejects the grants %j', (grants, message) => {
  expect(() => grantedOperations([getPlant], grants)).toThrow(message);
});
