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

test('the server’s URL has no variables, because clients of hey-api, openapi-client-axios and stepci do not replace them', () => {
  const description = expect.stringContaining('{base_url}');
  expect(contract.servers).toEqual([{ url: 'http://127.0.0.1:3000', description }]);
});

test('openapi.yaml has a table of the error numbers of the code', () => {
  const table = errorTable(contract.components.schemas.Error.properties.error.description);
  expect(Object.keys(table)).toEqual(ERROR_NUMBERS.map(String));
});
