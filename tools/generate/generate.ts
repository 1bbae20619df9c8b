import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { _, Ajv2020, str } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';
import { readOperations } from '../../infra/contract.ts';
import { int64Paths, mapValues, resolve, type Schema, toTypeScript, validatorSchema, valueType } from './schema.ts';

/*
 * Generates code from openapi.yaml: for each operation, the validator and the types of its event, in its function's
 * folder. Compiling the schemas at run time would slow down every cold start (docs/performance.md).
 */

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

/** A Request Body Object or a Response Object (OpenAPI 3.1). */
interface RequestOrResponse {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}

interface ContractOperation {
  parameters?: Parameter[];
  requestBody?: RequestOrResponse;
  responses?: Record<string, RequestOrResponse>;
}

interface Contract {
  paths: Record<string, { [method: string]: ContractOperation } & { parameters?: Parameter[] }>;
  components: { schemas: Record<string, Schema> };
}

const HEADER = '// Generated from openapi.yaml by npm run generate. Do not edit.\n';

/** Creates a compiler for one file. It numbers its functions, so a shared one would change the files of other operations. */
function createCompiler(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, code: { source: true, esm: true, lines: true } });
  // Ajv's `integer` does not accept a bigint.
  ajv.addKeyword({
    keyword: 'int64',
    code: (context) =>
      context.fail(_`typeof ${context.data} !== "bigint" || BigInt.asIntN(64, ${context.data}) !== ${context.data}`),
  });
  ajv.addKeyword({
    keyword: 'int32',
    type: 'number',
    code: (context) => context.fail(_`(${context.data} | 0) !== ${context.data}`),
  });
  // DynamoDB cannot store larger or smaller numbers ("Supported data types and naming rules in Amazon DynamoDB").
  ajv.addKeyword({
    keyword: 'storable',
    type: 'number',
    code: (context) => {
      const magnitude = _`Math.abs(${context.data})`;
      context.fail(_`${context.data} !== 0 && (${magnitude} < 1e-130 || ${magnitude} >= 1e126)`);
    },
  });
  // DynamoDB stores UTF-8, which cannot encode a lone surrogate.
  ajv.addKeyword({
    keyword: 'wellFormed',
    type: 'string',
    code: (context) => context.fail(_`!${context.data}.isWellFormed()`),
  });
  // The code of Ajv's own keywords imports a file of Ajv, which would be in the bundle.
  for (const [keyword, operator, bound] of [
    ['minLength', _`<`, 'at least'],
    ['maxLength', _`>`, 'at most'],
  ] as const) {
    ajv.removeKeyword(keyword).addKeyword({
      keyword,
      type: 'string',
      error: { message: ({ schema }) => str`must have ${bound} ${schema} characters` },
      code: (context) => context.fail(_`[...${context.data}].length ${operator} ${context.schema}`),
    });
  }
  return ajv;
}

/** Generates the files of a contract, by path from the project's root. Throws if the contract is not supported. */
export function generate(contractText: string): Record<string, string> {
  const { paths, components } = parse(contractText) as Contract;
  const resolved = (schema: Schema) => resolve(schema, components.schemas);
  const files: Record<string, string> = {};
  for (const { operationId, method, path, folder } of readOperations(contractText)) {
    const { parameters = [], ...methods } = paths[path] ?? {};
    const operation = methods[method.toLowerCase()] ?? {};
    const request = mapValues(requestSchemas(operationId, parameters, operation), resolved);
    const response = resolved(responseSchema(operationId, operation));
    const schemaNames = referencedSchemaNames([operation.requestBody, operation.responses?.['200']]);
    const schemas = Object.fromEntries(schemaNames.map((name) => [name, resolved(components.schemas[name] ?? {})]));
    const event = objectSchema(request);
    const eventCompiler = createCompiler();
    const typeName = operationId.replace(/./, (letter) => letter.toUpperCase());
    const constants = contractConstants(operationId, request, schemas);
    files[`functions/${folder}/contract.generated.js`] = [
      HEADER,
      ...Object.entries(constants).map(([name, { value }]) => `export const ${name} = ${JSON.stringify(value)};\n`),
      standaloneCode.default(eventCompiler, eventCompiler.compile(validatorSchema(event, operationId))),
      '\n',
    ].join('');
    files[`functions/${folder}/contract.generated.d.ts`] = [
      HEADER,
      ...Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${toTypeScript(schema)};`),
      '/** The parts of a valid event that the contract describes. */',
      `export type ${typeName}Event = ${toTypeScript(event)};`,
      '/** The body of a 200 response. */',
      `export type ${typeName}Response = ${toTypeScript(response)};\n`,
      ...Object.entries(constants).map(([name, { type }]) => `export declare const ${name}: ${type};`),
      '/** Validates an event. The reasons for a failure are in `errors`. */',
      "declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;",
      'export default validate;\n',
    ].join('\n');
  }
  return files;
}

/** Returns the names of the schemas to which the parts of an operation refer directly. Each becomes a TypeScript type. */
function referencedSchemaNames(parts: unknown[]): string[] {
  const references = JSON.stringify(parts).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  const names = [...new Set(Array.from(references, ([, name = '']) => name))];
  const invalid = names.find((name) => !/^[a-z_]\w*$/i.test(name));
  if (invalid === undefined) return names;
  const expected = 'it must have only letters, digits and underscores';
  throw new Error(`The schema name "${invalid}" becomes the name of a TypeScript type; ${expected}.`);
}

/** Returns the schemas of an event's parts: `pathParameters`, `queryStringParameters` and `body`. */
function requestSchemas(operationId: string, parametersOfPath: Parameter[], operation: ContractOperation) {
  const request: Record<string, Schema> = {};
  for (const { name, in: place, required, schema } of [...parametersOfPath, ...(operation.parameters ?? [])]) {
    const part = { path: 'pathParameters', query: 'queryStringParameters' }[place];
    if (!part) throw new Error(`The parameter ${name} of ${operationId} is in ${place}; it must be in path or query.`);
    const { required: requiredNames = [], properties } = request[part] ?? {};
    request[part] = {
      type: 'object',
      required: required ? [...requiredNames, name] : requiredNames,
      properties: { ...properties, [name]: schema },
    };
  }
  const { requestBody } = operation;
  if (!requestBody) return request;
  const schema = jsonSchema(requestBody);
  if (!schema || !requestBody.required) {
    throw new Error(`The request body of ${operationId} must be required, and have a schema for application/json.`);
  }
  return { ...request, body: schema };
}

/** Returns the schema of an operation's 200 response. */
function responseSchema(operationId: string, { responses = {} }: ContractOperation): Schema {
  const statuses = Object.entries(responses).map(([status, each]) =>
    jsonSchema(each) ? status : `${status} without a schema`,
  );
  const schema = jsonSchema(responses['200']);
  if (schema && statuses.join(' and ') === '200 and 400') return schema;
  throw new Error(
    `The responses of ${operationId} are ${statuses.join(' and ')}; they must be 200 and 400, each with a schema for application/json.`,
  );
}

function jsonSchema(message: RequestOrResponse | undefined): Schema | undefined {
  return message?.content?.['application/json']?.schema;
}

function objectSchema(properties: Record<string, Schema>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** Returns the exported constants of an operation by name, each with its TypeScript type. */
function contractConstants(operationId: string, request: Record<string, Schema>, schemas: Record<string, Schema>) {
  const { body = {}, pathParameters = {}, queryStringParameters = {} } = request;
  const parameterType = (schema: Schema, name: string) => {
    const type = valueType(schema);
    if (type !== 'array' && type !== 'object') return type;
    const expected = 'it must be a string, a number, an integer or a boolean';
    throw new Error(`The parameter ${name} of ${operationId} is of type ${type}; ${expected}.`);
  };
  const parameters = {
    pathParameters: mapValues(pathParameters.properties ?? {}, parameterType),
    queryStringParameters: mapValues(queryStringParameters.properties ?? {}, parameterType),
  };
  const constants: Record<string, { value: unknown; type: string }> = {
    operationId: { value: operationId, type: 'string' },
    int64Paths: { value: int64Paths(body), type: 'string[][]' },
    parameters: { value: parameters, type: "import('../shared/middleware/typed-parameters.ts').ParameterTypes" },
  };
  for (const [name, { properties = {} }] of Object.entries(schemas)) {
    const lowerFirst = name.replace(/./, (letter) => letter.toLowerCase());
    constants[`${lowerFirst}MemberNames`] = { value: Object.keys(properties), type: `(keyof ${name})[]` };
  }
  return constants;
}

/** Writes the files that `generate` returns for the openapi.yaml of a project. Default: this project. */
export function writeGenerated(directory = join(import.meta.dirname, '../..')): void {
  try {
    for (const [path, text] of Object.entries(generate(readFileSync(join(directory, 'openapi.yaml'), 'utf8')))) {
      // The folder of a new operation does not exist yet.
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
  } catch (error) {
    throw new Error(`Cannot generate code from openapi.yaml: ${(error as Error).message}`);
  }
}
