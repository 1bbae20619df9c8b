import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { _, Ajv2020, type Code, type KeywordCxt, type Name, str } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import type { OpenAPIV3_1 } from 'openapi-types';
import {
  type Contract,
  contractText,
  jsonContent,
  operationObject,
  parseContract,
  pascalCaseId,
  readOperations,
} from '../../model/contract.ts';
import { projectRoot } from '../project-root.ts';
import {
  mapValues,
  type ResolvedSchema,
  resolve,
  type Schema,
  toShape,
  toTypeScript,
  validatorSchema,
  valueType,
} from './schema.ts';

/*
 * Generates code from openapi.yaml: for each operation, the validator and the types of its event, in
 * its folder. Compiling the schemas at run time would slow down every cold start (docs/cost-and-performance.md).
 */

const HEADER = '// Generated from the contract by npm run generate. Do not edit.\n';

type IsInvalid = (data: Name, schema: number) => Code;

/** The validators' own keywords: the types of values they apply to, and the condition for an invalid value. */
const KEYWORDS: [keyword: string, types: ('number' | 'string')[], isInvalid: IsInvalid, comparison?: string][] = [
  // Ajv's `integer` does not accept a bigint.
  ['int64', [], (data) => _`typeof ${data} !== "bigint" || BigInt.asIntN(64, ${data}) !== ${data}`],
  ['int32', ['number'], (data) => _`(${data} | 0) !== ${data}`],
  // DynamoDB cannot store larger or smaller numbers ("Supported data types and naming rules in Amazon DynamoDB").
  ['storable', ['number'], (data) => _`${data} !== 0 && (Math.abs(${data}) < 1e-130 || Math.abs(${data}) >= 1e126)`],
  // DynamoDB stores UTF-8, which cannot encode a lone surrogate.
  ['wellFormed', ['string'], (data) => _`!${data}.isWellFormed()`],
  // The code of Ajv's own minLength and maxLength imports a file of Ajv, which would be in the bundle.
  ['minLength', ['string'], (data, schema) => _`[...${data}].length < ${schema}`, 'at least'],
  ['maxLength', ['string'], (data, schema) => _`[...${data}].length > ${schema}`, 'at most'],
];

/**
 * Creates a compiler for one file. It numbers its functions, so a shared one would change the files of other
 * operations.
 */
function createCompiler(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    removeAdditional: true,
    // For a long enum, Ajv would otherwise generate a `require`, which an ES module does not have.
    loopEnum: Infinity,
    code: { source: true, esm: true, lines: true },
  });
  for (const [keyword, type, isInvalid, comparison] of KEYWORDS) {
    const message = ({ schema }: { schema: number }) =>
      str`must have ${comparison} ${schema} ${schema === 1 ? 'character' : 'characters'}`;
    const code = (context: KeywordCxt) => context.fail(isInvalid(context.data, context.schema));
    ajv.removeKeyword(keyword).addKeyword({ keyword, type, code, ...(comparison && { error: { message } }) });
  }
  return ajv;
}

/**
 * Generates the files of a contract. Returns their texts by path from the project's root.
 *
 * @param parent the folder that contains the folders of the operations
 * @throws if the contract is not supported
 */
export function generate(contract: Contract, parent = 'functions'): Record<string, string> {
  const allSchemas = contract.components?.schemas ?? {};
  const resolved = (schema: Schema) => resolve(schema, allSchemas);
  const files: Record<string, string> = {};
  for (const operation of readOperations(contract, parent)) {
    const { operationId, folder } = operation;
    const { parameters, requestBody, responses = {} } = operationObject(contract, operation);
    const statuses = Object.keys(responses).join(' and ');
    if (statuses !== '200 and 400') {
      throw new Error(`The responses of ${operationId} are ${statuses}; they must be 200 and 400.`);
    }
    const request = mapValues(requestSchemas(operationId, parameters, requestBody), resolved);
    const event: ResolvedSchema = { type: 'object', required: Object.keys(request), properties: request };
    const properties = mapValues(request, (schema, part) => validatorSchema(schema, `${operationId}.${part}`));
    const validator = { ...event, properties };
    const names = referencedSchemaNames([requestBody, responses['200']]);
    if (names.some((name) => shapeConstant(name) === 'bodyShape'))
      throw new Error('The schema Body must have another name: bodyShape is already the shape of the request body.');
    const schemas = names.map((name) => ({ name, schema: resolved({ $ref: `#/components/schemas/${name}` }) }));
    const shapesOf = ({ properties = {} }: ResolvedSchema = {}) =>
      mapValues(properties, (schema, name) => parameterShape(schema, name, operationId));
    const constants = {
      operationId,
      parameterShapes: {
        pathParameters: shapesOf(request['pathParameters']),
        queryStringParameters: shapesOf(request['queryStringParameters']),
      },
      ...(request['body'] && { bodyShape: toShape(request['body'], `${operationId}.body`) }),
      ...Object.fromEntries(schemas.map(({ name, schema }) => [shapeConstant(name), toShape(schema, name)])),
    };
    const compiler = createCompiler();
    const typeName = pascalCaseId(operation);
    files[`${folder}/contract.generated.js`] = [
      HEADER,
      ...Object.entries(constants).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`),
      standaloneCode.default(compiler, compiler.compile(validator)),
      '\n',
    ].join('');
    files[`${folder}/contract.generated.d.ts`] = [
      HEADER,
      ...schemas.map(({ name, schema }) => `export type ${name} = ${toTypeScript(schema)};`),
      '/** The parts of a valid event that the contract describes. */',
      `export type ${typeName}Event = ${toTypeScript(event)};\n`,
      ...Object.entries(constants).map(([name, value]) => `export declare const ${name}: ${JSON.stringify(value)};`),
      '/** Validates an event. The reasons for a failure are in `errors`. */',
      "declare const validate: import('ajv').ValidateFunction;",
      'export default validate;\n',
    ].join('\n');
  }
  return files;
}

/** Returns the name of the constant with a schema's shape, such as `newPlantShape`. */
function shapeConstant(schemaName: string): string {
  return `${schemaName.replace(/./, (letter) => letter.toLowerCase())}Shape`;
}

/**
 * Returns the names of the schemas to which the parts of an operation refer directly. Each becomes a TypeScript type.
 */
function referencedSchemaNames(parts: unknown[]): string[] {
  const references = JSON.stringify(parts).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  return [...new Set(Array.from(references, ([, name = '']) => name))];
}

/** Returns the schemas of an event's parts: `pathParameters`, `queryStringParameters` and `body`. */
function requestSchemas(
  operationId: string,
  parameters: OpenAPIV3_1.ParameterObject[],
  requestBody: OpenAPIV3_1.OperationObject['requestBody'],
): Record<string, Schema> {
  const request: Record<string, { type: 'object'; required: string[]; properties: Record<string, Schema> }> = {};
  for (const { name, in: place, required, schema = {} } of parameters) {
    const part = { path: 'pathParameters', query: 'queryStringParameters' }[place];
    if (!part) throw new Error(`The parameter ${name} of ${operationId} is in ${place}; it must be in path or query.`);
    const ofPart = request[part] ?? { type: 'object', required: [], properties: {} };
    if (required) ofPart.required.push(name);
    ofPart.properties[name] = schema;
    request[part] = ofPart;
  }
  if (!requestBody) return request;
  const body = jsonContent(requestBody)?.schema;
  if (body && 'required' in requestBody && requestBody.required) return { ...request, body };
  throw new Error(
    `The request body of ${operationId} must be required, no $ref, and have a schema for application/json.`,
  );
}

function parameterShape(schema: ResolvedSchema, name: string, operationId: string): string {
  const type = valueType(schema);
  if (type !== 'array' && type !== 'object') return type;
  const expected = 'it must be a string, a number, an integer or a boolean';
  throw new Error(`The parameter ${name} of ${operationId} is of type ${type}; ${expected}.`);
}

/**
 * Generates the files of a project.
 *
 * @throws if the contract is not supported
 */
export function generateAll(root = projectRoot): Record<string, string> {
  try {
    return generate(parseContract(contractText(root)));
  } catch (thrown) {
    throw new Error(`Cannot generate code from openapi.yaml: ${(thrown as Error).message}`, { cause: thrown });
  }
}

/** Writes the generated files of a project, and creates their folders. Default: this project. */
export function writeGenerated(root = projectRoot): void {
  for (const [path, text] of Object.entries(generateAll(root))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
