import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import validateEvent from '../functions/create-plant/validate-event.generated.ts';
import { ERROR_NUMBERS } from '../functions/errors.ts';
import { contract, contractText } from '../test/support/contract-body.ts';
import { generateFrom } from '../test/support/generate-from.ts';
import { generate, generatedFiles } from './generate.ts';

test('openapi.yaml is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(contractText)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('openapi.yaml has a table of the error numbers of the code', () => {
  const table: string = contract['components'].schemas.Error.properties.error.description;
  expect(table.match(/(?<=^\| )\d{3}(?= \| \w)/gm)).toEqual(ERROR_NUMBERS.map(String));
});

test('createPlant requires a bearer token, and an Error has both members', () => {
  expect(contract['security']).toEqual([{ bearerToken: [] }]);
  expect(contract['components'].securitySchemes.bearerToken).toEqual({ type: 'http', scheme: 'bearer' });
  expect(contract['paths']['/plants'].post).not.toHaveProperty('security');
  expect(contract['components'].schemas.Error.required).toEqual(['error', 'message']);
});

test.each(Object.entries(generatedFiles(contractText)))('%s is that of npm run generate', (file, text) => {
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('writes only the files that are missing or differ', () => {
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(mkdtempSync(join(tmpdir(), 'contract-')));
  mkdirSync('functions/create-plant', { recursive: true });
  writeFileSync('openapi.yaml', contractText);
  const files = Object.keys(generatedFiles(contractText));
  expect([generate(), generate()]).toEqual([files, []]);
});

test('the validator requires a body', () => {
  expect(validateEvent({})).toBe(false);
});

const INT32 = { type: 'integer', format: 'int32' };
const ID = { type: 'integer', format: 'int64' };
const TEXT = { type: 'string' };
const REF = { $ref: '#/components/schemas/Plant' };

/** A NewPlant with the members id and name, and with these changes of its schema. */
const newPlant = (changes: object) => ({ required: ['id'], properties: { id: ID, name: TEXT }, ...changes });

/** Generates from a contract whose plant has this member. */
const generateMember = (name: string, schema: unknown) =>
  generateFrom({ allOf: [{ required: ['id'], properties: { id: ID } }, REF] }, { properties: { [name]: schema } });

const TYPES = 'it must be a string, an int32 (type: integer, format: int32) or a boolean, without another format';
const BOUND = 'it must be a whole number from -2147483648 to 2147483647, and the minimum not above the maximum';
const LENGTH = 'it must be a whole number of at least 0, and minLength not above maxLength';
const PATTERN = 'it must be a string, beside a maxLength of at most 1000';
const REGULAR = 'it must be a regular expression of JavaScript with the flag u, and of RE2';

test.each<[unknown, string]>([
  [{ ...TEXT, nullable: true }, 'had the keyword "nullable"; it must be one of minLength, maxLength, pattern, enum, '],
  [{ ...INT32, exclusiveMinimum: 0 }, '"exclusiveMinimum"; it must be one of minimum, maximum, enum, title, '],
  [{ type: 'boolean', enum: [true] }, 'had the keyword "enum"; it must be one of title, description, example, '],
  [{ ...TEXT, format: 'uuid' }, `was {"type":"string","format":"uuid"}; ${TYPES}`],
  [{ type: 'number' }, `was {"type":"number"}; ${TYPES}`],
  [{ type: 'integer' }, `was {"type":"integer"}; ${TYPES}`],
  [{ type: 'toString' }, `was {"type":"toString"}; ${TYPES}`],
  [null, `was null; ${TYPES}`],
  [ID, `was {"type":"integer","format":"int64"}; ${TYPES}`],
  [{ ...INT32, minimum: '9' }, `was "9"; ${BOUND}`],
  [{ ...INT32, minimum: 2, maximum: 1 }, `was 2; ${BOUND}`],
  [{ ...INT32, maximum: 2 ** 31 }, `was 2147483648; ${BOUND}`],
  [{ ...TEXT, minLength: -1 }, `was -1; ${LENGTH}`],
  [{ ...TEXT, minLength: 2, maxLength: 1 }, `was 2; ${LENGTH}`],
  [{ ...TEXT, enum: ['a', 1] }, 'was ["a",1]; it must be a list of different strings'],
  [{ ...INT32, enum: ['a'] }, 'was ["a"]; it must be a list of different whole numbers'],
  [{ ...TEXT, enum: [] }, 'was []; it must be a list of different strings'],
  [{ ...TEXT, enum: ['a', 'a'] }, 'was ["a","a"]; it must be a list of different strings'],
  [{ ...TEXT, enum: ['a'], maxLength: 9 }, 'had another constraint beside it; it must be the only one'],
  [{ ...TEXT, maxLength: 9, pattern: '(' }, `"(" (Invalid regular expression: /(/u: Unterminated group); ${REGULAR}`],
  [
    { ...TEXT, maxLength: 9, pattern: '\\A' },
    `"\\\\A" (Invalid regular expression: /\\A/u: Invalid escape); ${REGULAR}`,
  ],
  [
    { ...TEXT, maxLength: 9, pattern: '(?=a)' },
    `"(?=a)" (error parsing regexp: invalid or unsupported Perl syntax: \`(?=\`); ${REGULAR}`,
  ],
  [{ ...TEXT, maxLength: 9, pattern: 5 }, `was 5; ${PATTERN}`],
  [{ ...TEXT, pattern: 'a' }, `was "a"; ${PATTERN}`],
  [{ ...TEXT, pattern: 'a', maxLength: 1001 }, `was "a"; ${PATTERN}`],
])('a member %j ends npm run generate with a sentence', (schema, reason) => {
  const generate = () => generateMember('height', schema);
  expect(generate).toThrow(
    /^The (\w+ of the )?member height [^\n]* Correct openapi\.yaml; see "A new member" in CONTRIBUTING\.md\.$/,
  );
  expect(generate).toThrow(reason);
});

test.each(['class', '_a', 'toString', 'createdAt', 'createdBy'])('a member cannot be named %s', (name) => {
  expect(() => generateMember(name, TEXT)).toThrow(`The name of the member "${name}" was not allowed; it must be `);
});

test.each<[string, object, object?]>([
  ['The schema NewPlant had the keyword "additionalProperties"', newPlant({ additionalProperties: false })],
  ['The type of the schema NewPlant was "array"', newPlant({ type: 'array' })],
  ['The required or allOf of NewPlant was no list', newPlant({ required: 'id' })],
  ['The member age was missing', newPlant({ required: ['id', 'age'] })],
  ['The member tag was missing', newPlant({}), { properties: { name: TEXT, tag: TEXT } }],
  ['The member id was missing', newPlant({ required: [], properties: {} })],
  ['The member id was not required', newPlant({ required: [] })],
  ['The member id was {"type":"string"}', newPlant({ properties: { id: TEXT, name: TEXT } })],
  ['The member id had the keyword "minimum"', newPlant({ properties: { id: { ...ID, minimum: 1 }, name: TEXT } })],
  ['The member name was in two parts of NewPlant', newPlant({ allOf: [REF] })],
  ['A part of the schema NewPlant was false', newPlant({ allOf: [false] })],
  ['The properties of NewPlant was null', newPlant({ properties: null })],
  ['The properties of NewPlant was []', newPlant({ properties: [] })],
  ['The $ref in NewPlant was "Plant"', newPlant({ allOf: [{ $ref: 'Plant' }] })],
  [
    'The $ref in NewPlant was "#/components/schemas/toString"',
    newPlant({ allOf: [{ $ref: '#/components/schemas/toString' }] }),
  ],
  ['The $ref in NewPlant had another keyword beside it', newPlant({ allOf: [{ ...REF, description: '' }] })],
  ['The $ref in Plant was "#/components/schemas/Plant"', newPlant({}), { allOf: [REF] }],
  ['The member name was {"type":"string"} in NewPlant and undefined in Plant', newPlant({}), { properties: {} }],
  ['The member name was required only in Plant', newPlant({}), { required: ['name'], properties: { name: TEXT } }],
])('says "%s"', (sentence, NewPlant, Plant) => {
  expect(() => generateFrom(NewPlant, Plant)).toThrow(sentence);
});

test('a contract that is not YAML ends npm run generate with a sentence', () => {
  expect(() => generatedFiles('a: [')).toThrow(/^Flow sequence in block collection .* Correct openapi\.yaml; see /s);
});

test('a mistake of the generator shows its stack, and not the advice to correct the contract', () => {
  const mistake = new TypeError('x is not a function');
  vi.spyOn(standaloneCode, 'default').mockImplementation(() => {
    throw mistake;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => generatedFiles(contractText)).toThrow(mistake);
});

test('an attribute of another type than that of its member is no value', async () => {
  const { 'functions/create-plant/plant.generated.ts': code = '' } = generateMember('height', INT32);
  const module = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(code))}`;
  const { fromItem } = await import(/* @vite-ignore */ module);
  expect(fromItem({ height: { N: '0' } })).toEqual({ height: 0 });
  expect(fromItem({ height: { S: '7' } })).toEqual({});
});
