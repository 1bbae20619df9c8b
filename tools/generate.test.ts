import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { fromItem } from '../functions/create-plant/plant.ts';
import validateEvent from '../functions/create-plant/validate-event.generated.ts';
import { ERROR_NUMBERS } from '../functions/errors.ts';
import { contract, contractText } from '../test/support/contract.ts';
import { compileValidator, VALIDATOR } from './generate.ts';

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

test('the committed validator is that of openapi.yaml, and requires a body; if not, run npm run generate', () => {
  expect(readFileSync(VALIDATOR, 'utf8')).toBe(compileValidator(contractText));
  expect(validateEvent({})).toBe(false);
});

test('plant.ts has the members of NewPlant; if not, change its types, toItem and fromItem', () => {
  const members = { ...NewPlant.allOf[0].properties, ...Plant.properties };
  expect(Object.keys(fromItem({})).toSorted()).toEqual(Object.keys(members).toSorted());
  // An item has attributes with these names: when the plant was created, and with which token.
  for (const name of ['createdAt', 'createdBy']) expect(members).not.toHaveProperty(name);
});

const INT32 = { type: 'integer', format: 'int32' };
const INT64 = { type: 'integer', format: 'int64' };

test.each([
  [{ id: { ...INT64, minimum: 1 } }, '/properties/id is an int64, which can have no other keyword'],
  [{ id: { ...INT64, type: ['integer', 'null'] } }, '/properties/id is an int64, which can have no other keyword'],
  [{ height: INT64 }, 'properties/height is an int64, which only the id can be; use an int32 or a string'],
  [{ height: { type: 'integer' } }, '/properties/height is an integer of an unknown size; write "format: int32"'],
  [{ height: { type: ['number', 'null'] } }, 'height can have decimals; use an int32 of a smaller unit, or a string'],
  [
    { height: { enum: [1] } },
    'openapi.yaml#/components/schemas/NewPlant/properties/height has no type; write "type: string"',
  ],
  [{ height: null }, 'openapi.yaml#/components/schemas/NewPlant/properties/height has no type; write'],
  [{ sizes: { type: 'array' } }, 'NewPlant/properties/sizes must be a string, an int32 or a boolean'],
  [{ owner: { type: ['object', 'null'] } }, 'properties/owner must be a string, an int32 or a boolean'],
  [{ height: { ...INT32, const: 1 } }, 'height has the keyword const; write enum, with a list of one value'],
  [{ name: { type: 'string', minlength: 1 } }, 'unknown keyword: "minlength"'],
  [{ name: { type: 'string', format: 'uuid' } }, 'unknown format "uuid" ignored in schema at path'],
  [{ name: { $ref: '#/components/schemas/Nam' } }, "can't resolve reference #/components/schemas/Nam"],
])('npm run generate says why NewPlant cannot have %j, and what to do', (properties, reason) => {
  const components = { schemas: { NewPlant: { type: 'object', properties } } };
  const generate = () => compileValidator(JSON.stringify({ components }));
  expect(generate).toThrow(reason);
  expect(generate).toThrow('. Correct openapi.yaml: "A new member" and "A constraint" in CONTRIBUTING.md say');
});
