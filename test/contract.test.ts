import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { ERROR_NUMBERS } from '../functions/shared/http/errors.ts';
import { contractText, parseContract } from '../model/contract.ts';

test('openapi.yaml is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(contractText())).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('openapi.yaml has a table of the error numbers of the code', () => {
  const table = parseContract().components?.schemas?.['Error']?.properties?.['error']?.['description'];
  expect(String(table).match(/(?<=^\| )\d{3}(?= \| \w)/gm)).toEqual(ERROR_NUMBERS.map(String));
});
