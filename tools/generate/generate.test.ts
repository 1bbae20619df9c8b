import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import middy from '@middy/core';
import type { ValidateFunction } from 'ajv';
import { expect, test } from 'vitest';
import type { Shape } from '../../functions/json/shape.ts';
import { errorResponse } from '../../functions/middleware/error-response.ts';
import { jsonBody } from '../../functions/middleware/json-body.ts';
import { validator } from '../../functions/middleware/validator.ts';
import { parseContract } from '../../model/contract.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { projectRoot } from '../project-root.ts';
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
}

const generateText = (text: string) => generate(parseContract(text));
const generated = generateText(CONTRACT);
const moduleOf = (file: string) => `data:text/javascript,${encodeURIComponent(generated[file] ?? '')}`;
const load = (folder: string): Promise<Generated> => import(moduleOf(`functions/${folder}/contract.generated.js`));

/** Sends a body through the middleware. Returns the body that the handler gets, or the message of error 400. */
async function put(body: string): Promise<unknown> {
  const { default: validate, bodyShape } = await load('put-bed');
  const stack = middy().use(errorResponse()).use(jsonBody(bodyShape)).use(validator(validate));
  stack.handler(async (event) => event.body);
  const pathParameters = { bed: 1n } as unknown as Record<string, string>;
  const headers = { 'content-type': 'application/json' };
  const result = await stack(eventWith({ body, headers, pathParameters }), contextWith());
  return result.statusCode === 400 ? JSON.parse(result.body).message : result;
}

test('makes each int64 in objects and arrays a bigint, and no other number', async () => {
  const body = '{"name":"fern","spots":[{"at":[9007199254740993,2],"size":9007199254740993,"wet":true},{"at":[]}]}';
  const spots = [{ at: [9007199254740993n, 2n], size: 9007199254740992, wet: true }, { at: [] }];
  expect(await put(body)).toEqual({ name: 'fern', spots });
});

test('removes unknown members at every level', async () => {
  const body = '{"name":"fern","x":null,"spots":[{"at":[],"x":1e300,"a/b~1":{"~1":true,"x":"\\ud800","toString":[]}}]}';
  const spots = [{ at: [], 'a/b~1': { '~1': true } }];
  expect(await put(body)).toEqual({ name: 'fern', spots });
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

test('the committed files are generated from the committed openapi.yaml (npm run generate)', () => {
  const files = Object.entries(generateAll());
  for (const [file, text] of files) expect(readFileSync(join(projectRoot, file), 'utf8')).toBe(text);
});

test('writes the files of openapi.yaml, and says why one is not supported', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-generated-'));
  const write = (text: string) => writeFileSync(join(directory, 'openapi.yaml'), text);
  write(CONTRACT);
  writeGenerated(directory);
  for (const [file, text] of Object.entries(generated)) expect(readFileSync(join(directory, file), 'utf8')).toBe(text);
  write(CONTRACT.replace('operationId: putBed', ''));
  const message = 'Cannot generate code from openapi.yaml: The operationId of PUT /beds/{bed}/spots was undefined; ';
  expect(() => writeGenerated(directory)).toThrow(message);
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
