import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { fromItem } from '../functions/create-plant/plant.ts';
import validateEvent from '../functions/create-plant/validate-event.generated.ts';
import { ERROR_NUMBERS } from '../functions/errors.ts';
import { contract, contractText } from '../test/support/contract.ts';
import { compileValidator } from './generate.ts';

const VALIDATOR = join(import.meta.dirname, '../functions/create-plant/validate-event.generated.ts');
const { NewPlant, Plant, Error: ErrorSchema } = contract['components'].schemas;

test('openapi.yaml is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(contractText)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('openapi.yaml has a table of the error numbers of the code', () => {
  const table: string = ErrorSchema.properties.error.description;
  expect(table.match(/(?<=^\| )\d{3}(?= \| \w)/gm)).toEqual(ERROR_NUMBERS.map(String));
});

test('the committed validator is that of openapi.yaml; if not, run npm run generate', () => {
  expect(readFileSync(VALIDATOR, 'utf8')).toBe(compileValidator(contractText));
});

test('the validator rejects an event without a body', () => {
  expect(validateEvent({})).toBe(false);
});

test('plant.ts has the members of NewPlant; if not, change its types, toItem and fromItem', () => {
  expect(Object.keys(fromItem({}))).toEqual(Object.keys({ ...NewPlant.allOf[0].properties, ...Plant.properties }));
});

const INT64 = { type: 'integer', format: 'int64' };
test.each([
  [{ id: { ...INT64, minimum: 1 } }, 'missing type "number" for keyword "minimum" at "openapi.yaml#/components'],
  [
    { id: { ...INT64, enum: [1] } },
    '/NewPlant/properties/id is a number, but only the id can be one, an int64 without',
  ],
  [{ id: { type: 'integer', format: 'int32' } }, '/NewPlant/properties/id is a number, but only the id can be one, an'],
  [{ height: INT64 }, '/NewPlant/properties/height is a number, but only the id can be one, an int64'],
  [{ height: { type: ['number', 'null'] } }, '/NewPlant/properties/height is a number, but only the id can be one'],
  [{ name: { type: 'string', minlength: 1 } }, 'unknown keyword: "minlength"'],
  [{ name: { type: 'string', format: 'uuid' } }, 'unknown format "uuid" ignored in schema at path'],
  [{ name: { $ref: '#/components/schemas/Nam' } }, "can't resolve reference #/components/schemas/Nam"],
])('npm run generate says why NewPlant cannot have %j, and what to do', (properties, reason) => {
  const components = { schemas: { NewPlant: { type: 'object', properties } } };
  const generate = () => compileValidator(JSON.stringify({ components }));
  expect(generate).toThrow(reason);
  expect(generate).toThrow('. Correct NewPlant, or a schema that it uses, in openapi.yaml: "A constraint" in');
});
