import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { ERROR_NUMBERS } from '../functions/shared/errors.ts';
import { projectRoot } from '../tools/project-root.ts';
import { contract } from './support/contract.ts';

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

/** The rows of a Markdown text's error table, by error number. */
function errorTable(markdown: string): Record<string, string> {
  return Object.fromEntries(
    [...markdown.matchAll(/^\| (\d{3}) \| ([a-z].+) \|$/gm)].map(([, error, when]) => [error, when]),
  );
}

test('openapi.yaml is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(read('openapi.yaml'))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('openapi.yaml and the README have the same error table, with the error numbers of the code', () => {
  const table = errorTable(contract.components.schemas.Error.properties.error.description);
  expect(errorTable(read('README.md'))).toEqual(table);
  expect(Object.keys(table)).toEqual(ERROR_NUMBERS.map(String));
});
