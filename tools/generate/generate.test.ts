import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import middy from '@middy/core';
import type { ValidateFunction } from 'ajv';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { errorResponse } from '../../functions/shared/http/error-response.ts';
import { jsonBody } from '../../functions/shared/http/json-body.ts';
import { type ParameterShapes, typedParameters } from '../../functions/shared/http/typed-parameters.ts';
import { validator } from '../../functions/shared/http/validator.ts';
import type { Shape } from '../../functions/shared/json/shape.ts';
import { parseContract } from '../../model/contract.ts';
import { projectRoot } from '../../model/project-root.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { generate, generateAll, writeGenerated } from './generate.ts';

const CONTRACT = `
paths:
  /beds/{bed}/spots:
    description: The spots of a bed
    parameters:
      - { name: bed, in: path, required: true, schema: { type: integer, format: int64 } }
    get:
      operationId: listSpots
      parameters:
        - { name: limit, in: query, schema: { type: integer, format: int32, minimum: 1 } }
        - { name: from, in: query, schema: { type: integer, format: int32 } }
        - { name: ripe, in: query, schema: { type: boolean } }
        - { name: size, in: query, schema: { type: number } }
        - { name: tag, in: query, schema: { type: string, minLength: 1, maxLength: 3 } }
      responses: &responses
        "200": { content: { application/json: { schema: { $ref: "#/components/schemas/Named" } } } }
        "400": { content: { application/json: { schema: { $ref: "#/components/schemas/Named" } } } }
    put:
      operationId: putBed
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Bed" } } }
      responses: *responses
components:
  schemas:
    Size: { type: number }
    Plain-name: { type: boolean }
    Named: { type: object, required: [name], properties: { name: { type: string, enum: [fern, moss] } } }
    Spot:
      type: object
      required: [at]
      properties:
        at: { type: array, items: { type: integer } }
        size: { type: number }
        "a/b~1": { type: object, required: [~1], properties: { ~1: { type: boolean } } }
        wet: { type: boolean }
    Bed:
      allOf:
        - { $ref: "#/components/schemas/Named" }
        - { type: object, properties: { spots: { type: array, minItems: 1, items: { $ref: "#/components/schemas/Spot" } } } }
`;

interface Generated {
  default: ValidateFunction;
  bodyShape: Shape;
  parameterShapes: ParameterShapes;
}

const generateText = (text: string) => generate(parseContract(text));
const generated = generateText(CONTRACT);
const moduleOf = (file: string) => `data:text/javascript,${encodeURIComponent(generated[file] ?? '')}`;
const load = (folder: string): Promise<Generated> => import(moduleOf(`functions/${folder}/contract.generated.js`));

/** Sends an event through the middleware. Returns the event that the handler gets, or the message of error 400. */
async function send(folder: string, event: Partial<APIGatewayProxyEvent>): Promise<unknown> {
  const { default: validate, bodyShape, parameterShapes } = await load(folder);
  const stack = middy().use(errorResponse()).use(typedParameters(parameterShapes));
  if (event.body) stack.use(jsonBody(bodyShape));
  stack.use(validator(validate));
  stack.handler(async ({ pathParameters, queryStringParameters, body }) => ({
    parameters: { ...pathParameters, ...queryStringParameters },
    body,
  }));
  const result = await stack(eventWith(event), contextWith());
  return result.statusCode === 400 ? JSON.parse(result.body).message : result;
}

const list = (bed: string, query: Record<string, string> | null = null) =>
  send('list-spots', { body: null, pathParameters: { bed }, queryStringParameters: query });
const put = (body: string) =>
  send('put-bed', { body, headers: { 'content-type': 'application/json' }, pathParameters: { bed: '1' } });

test('converts and validates path and query parameters', async () => {
  const query = { limit: '7', ripe: 'false', size: '-1.5e2', tag: 'a', other: 'x' };
  const parameters = { bed: 9223372036854775807n, limit: 7, ripe: false, size: -150, tag: 'a' };
  expect(await list('9223372036854775807', query)).toEqual({ parameters, body: null });
  expect(await list('-1')).toEqual({ parameters: { bed: -1n }, body: null });
});

test.each([
  ['1.0', {}, 'The parameter bed was "1.0"; it must be a whole number from -9223372036854775808 to'],
  ['1', { from: 'x' }, 'The parameter from was "x"; it must be a whole number from -2147483648 to 2147483647.'],
  ['1', { limit: '1.0' }, 'The parameter limit was "1.0"; it must be a whole number from 1 to 2147483647.'],
  ['1', { limit: '1e1' }, 'The parameter limit was "1e1"; it must be a whole number from 1 to 2147483647.'],
  ['1', { limit: '0' }, 'The parameter limit was "0"; it must be >= 1.'],
  ['1', { ripe: 'yes' }, 'The parameter ripe was "yes"; it must be true or false.'],
  ['1', { size: '1e126' }, 'The parameter size was "1e126"; it must be a number: 0, or one with a magnitude'],
  ['1', { tag: '' }, 'The parameter tag was ""; it must have at least 1 character.'],
  ['1', { tag: '🌱🌱🌱🌱' }, 'The parameter tag was "🌱🌱🌱🌱"; it must have at most 3 characters.'],
])('describes what the parameters %s and %j must be', async (bed, query, message) => {
  expect(String(await list(bed, query)).slice(0, message.length)).toBe(message);
});

test('makes each int64 in objects and arrays a bigint, and no other number', async () => {
  const body = '{"name":"fern","spots":[{"at":[9007199254740993,2],"size":9007199254740993,"wet":true},{"at":[]}]}';
  const spots = [{ at: [9007199254740993n, 2n], size: 9007199254740992, wet: true }, { at: [] }];
  expect(await put(body)).toEqual({ parameters: { bed: 1n }, body: { name: 'fern', spots } });
});

test('removes unknown members at every level', async () => {
  const body = '{"name":"fern","x":null,"spots":[{"at":[],"x":1e300,"a/b~1":{"~1":true,"x":"\\ud800","toString":[]}}]}';
  const spots = [{ at: [], 'a/b~1': { '~1': true } }];
  expect(await put(body)).toEqual({ parameters: { bed: 1n }, body: { name: 'fern', spots } });
});

test.each([
  ['{"name":"oak"}', 'The member name must be one of fern, moss.'],
  ['{"name":"fern","spots":7}', 'The member spots was 7; it must be an array.'],
  ['{"name":"fern","spots":[{"at":[0.5]}]}', 'The member spots/0/at/0 was 0.5; it must be a whole number'],
  ['{"name":"fern","spots":[{"at":[],"wet":1}]}', 'The member spots/0/wet was 1; it must be true or false.'],
  // Ajv escapes the names in a path (RFC 6901), but not the name of a missing member.
  ['{"name":"fern","spots":[{"at":[],"a/b~1":7}]}', 'The member spots/0/a/b~1 was 7; it must be a JSON object.'],
  ['{"name":"fern","spots":[{"at":[],"a/b~1":{}}]}', 'The member spots/0/a/b~1/~1 is missing; it must be true'],
])('describes what is wrong in the body %s', async (body, message) => {
  expect(String(await put(body)).slice(0, message.length)).toBe(message);
});

test('the committed files are generated from the committed openapi.yaml and examples (npm run generate)', () => {
  const files = Object.entries(generateAll());
  for (const [file, text] of files) expect(readFileSync(join(projectRoot, file), 'utf8')).toBe(text);
});

test('writes the files of openapi.yaml and the examples, and names the one that is not supported', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-generated-'));
  const read = (file: string) => readFileSync(join(directory, file), 'utf8');
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text);
  mkdirSync(join(directory, 'examples'));
  write('openapi.yaml', CONTRACT);
  // An example uses the components of openapi.yaml.
  const example = CONTRACT.replace(/^components:.*/ms, '');
  write('examples/beds.yaml', example);
  writeGenerated(directory);
  for (const [file, text] of Object.entries(generated)) {
    expect(read(file)).toBe(text);
    expect(read(file.replace('functions', 'examples'))).toBe(text);
  }

  const message = ': The operationId of PUT /beds/{bed}/spots was undefined; ';
  for (const [file, text] of Object.entries({ 'examples/beds.yaml': example, 'openapi.yaml': CONTRACT })) {
    write(file, text.replace('operationId: putBed', ''));
    expect(() => writeGenerated(directory)).toThrow(`Cannot generate code from ${file}${message}`);
  }
});

test('generates no import for a long enum', () => {
  const names = Array.from({ length: 300 }, (_, index) => `name${index}`);
  const code = generateText(CONTRACT.replace('[fern, moss]', `[${names}]`))['functions/put-bed/contract.generated.js'];
  expect(code).not.toMatch(/require\(|import /);
});

test('generates the types of the schemas and the event', () => {
  const types = generated['functions/put-bed/contract.generated.d.ts'];
  // Only schemas to which the operation refers directly.
  expect(types).not.toMatch(/type Spot\b/);
  expect(types).toContain('export type Bed = { "name": "fern" | "moss"; "spots"?: ({ "at": (bigint)[]; ');
  expect(types).toContain('export type PutBedEvent = { "pathParameters": { "bed": bigint }; "body": { "name": ');
  expect(types).toContain('export declare const bedShape: {"name":"string","spots":[{"at":["int64"],');
});

test.each([
  ['oneOf', 'size: { type: number }', 'size: { type: number, oneOf: [] }', 'size has the keyword oneOf; its type supp'],
  ['a schema without a type', 'size: { type: number }', 'size: {}', 'putBed.body.spots.*.size is of type undefined; '],
  ['an unknown format', '{ type: integer }', '{ type: integer, format: int16 }', 'at.* is of type int16; it must be'],
  ['a schema name with a hyphen', /Bed(?=" } } }\n {6}resp)/, 'Plain-name', 'schemas/Plain-name" does not exist;'],
  [
    'a member in two parts of an allOf',
    'properties: { spots',
    'properties: { name: {}, spots',
    'have the member name;',
  ],
  [
    'a member that all objects have',
    'wet: { type',
    'toString: { type',
    'has the member toString, which all objects have; choose another name.',
  ],
  ['a member without a schema', 'wet: { type: boolean }', 'wet:', 'The member wet has no schema.'],
  [
    'a parameter by reference',
    '{ name: size, in: query, schema',
    '{ $ref: "#/x", x',
    'A parameter of GET /beds/{bed}/spots is a $ref;',
  ],
  [
    'a schema that is named Body',
    /Bed(?=" } } }\n {6}resp)|Bed(?=:\n)/g,
    'Body',
    'The schema Body must have another name',
  ],
  ['an object without properties', '{ type: boolean }', '{ type: object }', 'has no properties; its type needs them.'],
  ['a list without items', '{ type: boolean }', '{ type: array }', 'has no items; its type needs them.'],
  ['an undeclared required name', 'required: [at]', 'required: [at, to]', 'body.spots.* requires to; a required'],
  ['an unknown $ref in a response', 'schemas/Named', 'schemas/Name', '"#/components/schemas/Name" does not exist;'],
  ['an unknown $ref', 'schemas/Spot', 'schemas/Spots', '"#/components/schemas/Spots" does not exist;'],
  ['a keyword beside a $ref', 'Spot" } }', 'Spot", minProperties: 1 } }', 'schemas/Spot" has minProperties beside it'],
  ['a recursive schema', 'wet: { type: boolean', 'wet: { $ref: "#/components/schemas/Spot"', 'Spot contains itself;'],
  ['a string in an allOf', '- { type: object, ', '- { type: string, ', 'A part of an allOf is of type string;'],
  ['a keyword in an allOf', '- { type: object, ', '- { minLength: 1, ', 'putBed.body has the keyword minLength;'],
  ['a header parameter', '{ name: size, in: query', '{ name: size, in: header', 'size of listSpots is in header;'],
  [
    'a list as a parameter',
    '{ type: string, minLength: 1, maxLength: 3 }',
    '{ type: array, items: { type: number } }',
    'tag of listSpots is of type array;',
  ],
  ['an optional body', 'required: true\n', 'required: false\n', 'The request body of putBed must be required'],
  ['a body of another media type', /json(?=.*Bed)/, 'xml', 'The request body of putBed must be required'],
  ['another status', '"200":', '"204": {}\n        "200":', 'listSpots are 200 and 204 and 400; they must be 200 a'],
])('throws for %s, which is not supported', (_, from, to, message) => {
  expect(CONTRACT).toMatch(from);
  expect(() => generateText(CONTRACT.replace(from, to))).toThrow(message);
});
