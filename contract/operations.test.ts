import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOperations } from './operations.ts';

test('each method of a path is an operation, in a folder by its id; what else a path has is none', () => {
  const contract = `
    paths:
      /plants:
        description: All plants
        post: { operationId: createPlant }
      /plants/{id}:
        parameters: []
        get: { operationId: getPlant }
        delete: { operationId: deleteOldPlant }`;
  expect(readOperations(contract)).toEqual([
    { operationId: 'createPlant', method: 'POST', path: '/plants', folder: 'create-plant' },
    { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'get-plant' },
    { operationId: 'deleteOldPlant', method: 'DELETE', path: '/plants/{id}', folder: 'delete-old-plant' },
  ]);
});

test.each(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'])('%s is a method', (method) => {
  const [operation] = readOperations(`{ paths: { /: { ${method.toLowerCase()}: { operationId: x } } } }`);
  expect(operation?.method).toBe(method);
});

test.each(readOperations())('$operationId has its handler in $folder', ({ folder }) => {
  expect(existsSync(join(import.meta.dirname, '../functions', folder, 'index.ts'))).toBe(true);
});
