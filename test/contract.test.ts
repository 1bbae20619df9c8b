import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { ERROR_NUMBERS } from '../functions/shared/errors.ts';
import { projectRoot } from '../tools/project-root.ts';
import { contract } from './support/contract.ts';

test('openapi.yaml is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8'))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('openapi.yaml has a table of the error numbers of the code', () => {
  const table: string = contract.components.schemas.Error.properties.error.description;
  expect(table.match(/(?<=^\| )\d{3}(?= \| \w)/gm)).toEqual(ERROR_NUMBERS.map(String));
});
