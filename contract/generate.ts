import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { _, Ajv2020, type Options, str } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';
import { readOperations } from './operations.ts';
import { closed, int64Paths, kindOf, mapValues, resolved, type Schema, typeOf, validated } from './schema.ts';

/*
 * Compiles the contract's schemas ahead of time: for each operation of openapi.yaml, the validator of its event and the
 * types of its schemas, into the folder of its function. At run time this would cost 72 ms of every cold start. For the
 * checks it writes the list of operations with the validators of their responses.
 */

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Content {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}

interface ContractOperation {
  parameters?: Parameter[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}

interface Contract {
  paths: Record<string, { [method: string]: ContractOperation } & { parameters?: Parameter[] }>;
  components: { schemas: Record<string, Schema> };
}

const header = '// Generated from openapi.yaml by contract/generate.ts (npm run generate). Do not edit.\n';

/** A new compiler for each file: it numbers what it compiles, and the files must be the same each time. */
function compiler(options: Options = { allErrors: true, verbose: true }): Ajv2020 {
  const ajv = new Ajv2020({ ...options, code: { source: true, esm: true, lines: true } });
  // An int64 beyond 2^53 arrives as a bigint, which Ajv's own `integer` refuses.
  ajv.addKeyword({
    keyword: 'int64',
    code: (keyword) =>
      keyword.fail(_`typeof ${keyword.data} !== "bigint" || BigInt.asIntN(64, ${keyword.data}) !== ${keyword.data}`),
  });
  ajv.addKeyword({
    keyword: 'int32',
    type: 'number',
    code: (keyword) => keyword.fail(_`(${keyword.data} | 0) !== ${keyword.data}`),
  });
  // What a Number holds beyond these, the table cannot ("Supported data types and naming rules in Amazon DynamoDB").
  ajv.addKeyword({
    keyword: 'storable',
    type: 'number',
    code: (keyword) => {
      const size = _`Math.abs(${keyword.data})`;
      keyword.fail(_`${keyword.data} !== 0 && (${size} < 1e-130 || ${size} >= 1e126)`);
    },
  });
  // A lone surrogate has no UTF-8, so the table could not give it back.
  ajv.addKeyword({
    keyword: 'wellFormed',
    type: 'string',
    code: (keyword) => keyword.fail(_`!${keyword.data}.isWellFormed()`),
  });
  // Ajv's own would load a file of its package at run time.
  for (const [keyword, operator, bound] of [
    ['minLength', _`<`, 'at least'],
    ['maxLength', _`>`, 'at most'],
  ] as const) {
    ajv.removeKeyword(keyword).addKeyword({
      keyword,
      type: 'string',
      error: { message: ({ schema }) => str`must have ${bound} ${schema} characters` },
      code: (cxt) => cxt.fail(_`[...${cxt.data}].length ${operator} ${cxt.schema}`),
    });
  }
  return ajv;
}

/** The files that the contract makes, by their path from the project's root. Throws a sentence for what it cannot check. */
export function generate(contractText: string): Record<string, string> {
  const { paths, components } = parse(contractText) as Contract;
  const files: Record<string, string> = {};
  const responses = compiler({ strict: false, validateFormats: false });
  const operations = readOperations(contractText);
  const list: string[] = [];
  for (const { operationId, method, path, folder } of operations) {
    const { parameters: ofPath = [], ...methods } = paths[path] ?? {};
    const operation = methods[method.toLowerCase()] ?? {};
    const request = mapValues(requestOf(operationId, ofPath, operation), (part) => resolved(part, components.schemas));
    const response = resolved(responseOf(operationId, operation), components.schemas);
    const schemas = schemasIn([operation.requestBody, operation.responses?.['200']], components.schemas);
    const constants = constantsOf(operationId, request, schemas);
    files[`functions/${folder}/contract.generated.js`] = [
      header,
      ...Object.entries(constants).map(([name, { value }]) => `export const ${name} = ${JSON.stringify(value)};\n`),
      validatorOf(operationId, request),
      '\n',
    ].join('');
    files[`functions/${folder}/contract.generated.d.ts`] = [
      header,
      ...Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`),
      '/** The event of a request that is as the contract has it. */',
      `export type ${upperFirst(operationId)}Event = ${typeOf(objectOf(request))};`,
      "/** The body of the operation's response 200. */",
      `export type ${upperFirst(operationId)}Response = ${typeOf(response)};\n`,
      ...Object.entries(constants).map(([name, { type }]) => `export declare const ${name}: ${type};`),
      '/** Tells whether an event is as the contract has it; says why not in `errors`. */',
      "declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;",
      'export default validate;\n',
    ].join('\n');
    responses.addSchema(closed(response), operationId);
    const described = JSON.stringify({ operationId, method, path, needsJson: operation.requestBody !== undefined });
    list.push(`  { ...${described}, isResponse: ${operationId} },\n`);
  }
  const names = Object.fromEntries(operations.map(({ operationId }) => [operationId, operationId]));
  const validators = standaloneCode.default(responses, names);
  files['checks/operations.generated.d.ts'] =
    `${header}export declare const operations: import('./contract-checks.ts').CheckedOperation[];\n`;
  files['checks/operations.generated.js'] = `${header}${validators}\nexport const operations = [\n${list.join('')}];\n`;
  return files;
}

/** The schemas to which the parts of an operation refer directly. */
function schemasIn(parts: unknown[], schemas: Record<string, Schema>): Record<string, Schema> {
  const references = JSON.stringify(parts).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const names = [...new Set(Array.from(references, ([, name = '']) => name))];
  return Object.fromEntries(names.map((name) => [name, resolved({ $ref: `#/components/schemas/${name}` }, schemas)]));
}

/** The parts of an operation's event that the contract describes. */
function requestOf(operationId: string, ofPath: Parameter[], operation: ContractOperation): Record<string, Schema> {
  const request: Record<string, Schema> = {};
  for (const { name, in: place, required, schema } of [...ofPath, ...(operation.parameters ?? [])]) {
    const part = { path: 'pathParameters', query: 'queryStringParameters' }[place];
    if (!part) throw new Error(`The parameter ${name} of ${operationId} is in ${place}; it must be in path or query.`);
    const { required: names = [], properties } = request[part] ?? {};
    request[part] = {
      type: 'object',
      required: required ? [...names, name] : names,
      properties: { ...properties, [name]: schema },
    };
  }
  const { requestBody } = operation;
  if (!requestBody) return request;
  const schema = schemaOf(requestBody);
  if (!schema || !requestBody.required) {
    throw new Error(`The request body of ${operationId} must be required, and have a schema for application/json.`);
  }
  return { ...request, body: schema };
}

/** The schema of an operation's response 200. */
function responseOf(operationId: string, { responses = {} }: ContractOperation): Schema {
  const given = Object.entries(responses).map(([status, each]) =>
    schemaOf(each) ? status : `${status} without a schema`,
  );
  const schema = schemaOf(responses['200']);
  if (schema && given.join(' and ') === '200 and 400') return schema;
  throw new Error(
    `The responses of ${operationId} are ${given.join(' and ')}; they must be 200 and 400, each with a schema for application/json.`,
  );
}

function schemaOf(content: Content | undefined): Schema | undefined {
  return content?.content?.['application/json']?.schema;
}

function objectOf(properties: Record<string, Schema>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** The module that tells whether an event is as the contract has it. */
function validatorOf(operationId: string, request: Record<string, Schema>): string {
  const ajv = compiler();
  return standaloneCode.default(ajv, ajv.compile(validated(objectOf(request), operationId)));
}

/** What else an operation's function takes from the contract, each by its name with its TypeScript type. */
function constantsOf(operationId: string, request: Record<string, Schema>, schemas: Record<string, Schema>) {
  const { body = objectOf({}), pathParameters = objectOf({}), queryStringParameters = objectOf({}) } = request;
  const parameters = {
    pathParameters: mapValues(pathParameters.properties ?? {}, parameterType),
    queryStringParameters: mapValues(queryStringParameters.properties ?? {}, parameterType),
  };
  const constants: Record<string, { value: unknown; type: string }> = {
    operationId: { value: operationId, type: 'string' },
    int64s: { value: int64Paths(body), type: 'string[][]' },
    parameters: { value: parameters, type: "import('../shared/middleware/typed-parameters.ts').ParameterTypes" },
  };
  for (const [name, { properties = {} }] of Object.entries(schemas)) {
    const lowerFirst = name.replace(/./, (letter) => letter.toLowerCase());
    constants[`${lowerFirst}Members`] = { value: Object.keys(properties), type: `(keyof ${name})[]` };
  }
  return constants;
}

/** What the text of a parameter is made; a list where it may be repeated. */
function parameterType({ items, ...schema }: Schema): string | [string] {
  const ofSchema = (each: Schema) => (kindOf(each) === 'int32' ? 'number' : kindOf(each));
  return items ? [ofSchema(items)] : ofSchema(schema);
}

const upperFirst = (text: string) => text.replace(/./, (letter) => letter.toUpperCase());

/** Writes what the contract of a project makes, by default of this one. Throws a sentence for what it cannot check. */
export function writeGenerated(directory = join(import.meta.dirname, '..')): void {
  try {
    for (const [path, text] of Object.entries(generate(readFileSync(join(directory, 'openapi.yaml'), 'utf8')))) {
      // A new operation has no folder yet.
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
  } catch (error) {
    throw new Error(`Nothing can be generated from openapi.yaml: ${(error as Error).message}`);
  }
}
