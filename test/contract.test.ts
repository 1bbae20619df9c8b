import { expect, test } from 'vitest';
import { contract } from './support/contract.ts';

test('each operation requires a bearer token', () => {
  expect(contract['security']).toEqual([{ bearerToken: [] }]);
  expect(contract['components'].securitySchemes.bearerToken).toEqual({ type: 'http', scheme: 'bearer' });
  expect(contract['paths']['/plants'].post).not.toHaveProperty('security');
});

test('an Error has both members', () => {
  expect(contract['components'].schemas.Error.required).toEqual(['error', 'message']);
});
