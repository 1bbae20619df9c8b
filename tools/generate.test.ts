import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { fromItem, toItem } from '../functions/create-plant/plant.ts';
import { ERROR_NUMBERS } from '../functions/errors.ts';
import { contract, contractText } from '../test/support/contract.ts';
import { compileValidator, readNewPlant } from './generate.ts';

const VALIDATOR = join(import.meta.dirname, '../functions/create-plant/validate-event.generated.js');

test('openapi.yaml is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(contractText)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('openapi.yaml has a table of the error numbers of the code', () => {
  const table: string = contract['components'].schemas.Error.properties.error.description;
  expect(table.match(/(?<=^\| )\d{3}(?= \| \w)/gm)).toEqual(ERROR_NUMBERS.map(String));
});

test('the committed validator is that of openapi.yaml; if not, run npm run generate', () => {
  expect(readFileSync(VALIDATOR, 'utf8')).toBe(compileValidator(contractText));
});

test('plant.ts stores and reads each member of NewPlant; if not, change its types, toItem and fromItem', () => {
  const { properties } = readNewPlant(contractText);
  const texts = Object.fromEntries(Object.keys(properties).map((name) => [name, name]));
  expect(toItem({ name: 'name', ...texts, id: 1n })).toEqual(
    Object.fromEntries(Object.keys(properties).map((name) => [name, name === 'id' ? { N: '1' } : { S: name }])),
  );
  expect(Object.keys(fromItem({}))).toEqual(Object.keys(properties));
});

/** A contract with these two parts of NewPlant, in YAML. */
const contractWith = (part: string, plant = '{ required: [name], properties: { name: { type: string } } }') => `
components:
  schemas:
    NewPlant: { description: A plant, allOf: [${part}, { $ref: "#/components/schemas/Plant" }] }
    Plant: ${plant}`;

test('merges the parts of an allOf', () => {
  const id = '{ required: [id], properties: { id: { type: integer, format: int64, description: The id } } }';
  expect(readNewPlant(contractWith(id))).toEqual({
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { int64: true }, name: { type: 'string', wellFormed: true } },
  });
});

const member = (schema: string) => `{ properties: { id: ${schema} } }`;
test.each([
  [member('{ type: number }'), 'The member id of NewPlant has the type number and the format undefined; it must be'],
  [member('{ type: integer, format: int32 }'), 'The member id of NewPlant has the type integer and the format int32;'],
  [member('{ type: string, format: uuid }'), 'The member id of NewPlant has the type string and the format uuid;'],
  [
    member('{ type: string, minLength: 1 }'),
    'The member id of NewPlant has the keyword minLength, which the validator',
  ],
  [member('{ $ref: "#/x" }'), 'The member id of NewPlant has the keyword $ref, which the validator does not support.'],
  ['{ type: string }', 'The type of NewPlant, or of a part of it, was string; it must be object.'],
  ['{ additionalProperties: false }', 'NewPlant has the keyword additionalProperties, which the validator does not'],
  ['{ $ref: "#/components/schemas/Plan" }', 'The $ref "#/components/schemas/Plan" does not exist; it must be'],
  ['{ required: [height] }', 'NewPlant requires height, which is not among its properties.'],
  ['{ properties: { name: { type: string } } }', 'NewPlant has the member name twice.'],
])('does not support the part %s of NewPlant, and says why', (part, message) => {
  expect(() => compileValidator(contractWith(part))).toThrow(message);
});
