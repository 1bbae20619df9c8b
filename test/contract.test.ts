import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { ERROR_NUMBERS } from '../functions/shared/errors.ts';
import { projectRoot } from '../local/synthesize.ts';
import { sharedTemplate } from './support/assembly.ts';
import { contract, contractBody } from './support/contract.ts';

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

test('the server is a plain URL, because clients of hey-api, openapi-client-axios and stepci would send "{base_url}"', () => {
  const description = expect.stringContaining('{base_url}');
  expect(contract.servers).toEqual([{ url: 'http://127.0.0.1:3000', description }]);
});

test('openapi.yaml and the README have the same error table, with the error numbers of the code', () => {
  const table = errorTable(contract.components.schemas.Error.properties.error.description);
  expect(errorTable(read('README.md'))).toEqual(table);
  expect(Object.keys(table)).toEqual(ERROR_NUMBERS.map(String));
});

test('each gateway response is a 400 with an error number of the table', async () => {
  const { gatewayResponses } = await sharedTemplate();
  const numbers = [...gatewayResponses].map(([type, { statusCode, body }]) => [
    type,
    contractBody({ statusCode, headers: { 'content-type': 'application/json' }, body })['error'],
  ]);
  expect(Object.fromEntries(numbers)).toEqual({
    ACCESS_DENIED: 401,
    API_CONFIGURATION_ERROR: 500,
    AUTHORIZER_CONFIGURATION_ERROR: 500,
    AUTHORIZER_FAILURE: 500,
    BAD_REQUEST_BODY: 400,
    BAD_REQUEST_PARAMETERS: 400,
    DEFAULT_4XX: 400,
    DEFAULT_5XX: 500,
    EXPIRED_TOKEN: 401,
    INTEGRATION_FAILURE: 500,
    INTEGRATION_TIMEOUT: 504,
    INVALID_API_KEY: 401,
    INVALID_SIGNATURE: 404,
    MISSING_AUTHENTICATION_TOKEN: 404,
    QUOTA_EXCEEDED: 429,
    REQUEST_TOO_LARGE: 413,
    RESOURCE_NOT_FOUND: 404,
    THROTTLED: 429,
    UNAUTHORIZED: 401,
    UNSUPPORTED_MEDIA_TYPE: 404,
    WAF_FILTERED: 401,
  });
});
