import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { _, Ajv2020, str } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';
import { readOperations } from '../functions/operations.ts';
import { command } from '../operate/command.ts';
import type { SmokeOperation } from '../operate/smoke/contract-rules.ts';
import { int64Paths, kindOf, membersOf, requestSchema, type Schema, type Schemas, typeOf } from './schema.ts';

/*
 * Compiles the contract's request schemas ahead of time: for each operation of openapi.yaml, the
 * validator of its event and the types of its schemas, into the folder of its function.
 * At run time this would cost 72 ms of every cold start. The smoke's list of operations is made besides.
 */

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
  schema: Schema;
}

interface ContractOperation {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
}

interface Contract {
  paths: Record<string, { [method: string]: ContractOperation } & { parameters?: Parameter[] }>;
  components: { schemas: Schemas };
}

const root = join(import.meta.dirname, '..');
const header = '// Generated from openapi.yaml by scripts/generate.ts (npm run generate). Do not edit.\n';

/** A compiler of its own for each operation: it numbers what it compiles, and the files must come out the same each time. */
function compiler(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, code: { source: true, esm: true, lines: true } });
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
export function generate(contractText = readFileSync(join(root, 'openapi.yaml'), 'utf8')): Record<string, string> {
  const { paths, components } = parse(contractText) as Contract;
  const files: Record<string, string> = {};
  const smokeOperations: SmokeOperation[] = [];
  for (const { operationId, method, path, folder } of readOperations(contractText)) {
    const { parameters: ofPath = [], ...methods } = paths[path] ?? {};
    const { parameters: own = [], requestBody } = methods[method.toLowerCase()] ?? {};
    const parameters = [...ofPath, ...own];
    const request = { ...parts(parameters, operationId), ...body(requestBody, operationId) };
    const { code, types } = modules(operationId, request, components.schemas);
    files[`functions/${folder}/contract.generated.js`] = `${header}${code}\n`;
    files[`functions/${folder}/contract.generated.d.ts`] = `${header}\n${types}\n`;
    // 1 is an id, a name and a number.
    const sampleOf = (name: string) => parameters.find((each) => each.name === name)?.example ?? 1;
    const samplePath = path.replaceAll(/\{(.+?)\}/g, (_, name) => encodeURIComponent(String(sampleOf(name))));
    smokeOperations.push({ method, path, samplePath, needsJson: requestBody !== undefined });
  }
  files['operate/smoke/operations.generated.json'] = `${JSON.stringify(smokeOperations, null, 2)}\n`;
  return files;
}

/** What of an event the contract describes: the schemas of its body and of its parameters, by the event's members. */
type Request = Partial<Record<'body' | 'pathParameters' | 'queryStringParameters', Schema>>;

function body(requestBody: ContractOperation['requestBody'], operationId: string): Request {
  if (!requestBody) return {};
  const schema = requestBody.content['application/json']?.schema;
  if (!schema || !requestBody.required) {
    throw new Error(`The request body of ${operationId} must be required, and have a schema for application/json.`);
  }
  return { body: schema };
}

function parts(parameters: Parameter[], operationId: string): Request {
  for (const { name, in: place } of parameters) {
    if (place !== 'path' && place !== 'query') {
      throw new Error(`The parameter ${name} of ${operationId} is in ${place}; it must be in path or query.`);
    }
  }
  const ofPath = parameters.filter((parameter) => parameter.in === 'path');
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  return {
    ...(ofPath.length > 0 && { pathParameters: objectOf(ofPath) }),
    ...(ofQuery.length > 0 && { queryStringParameters: objectOf(ofQuery) }),
  };
}

function objectOf(parameters: Parameter[]): Schema {
  return {
    type: 'object',
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  };
}

/** The validator of an operation's events with what else its function takes from the contract, and their types. */
function modules(operationId: string, request: Request, schemas: Schemas): { code: string; types: string } {
  const properties = Object.fromEntries(
    Object.entries(request).map(([part, schema]) => [part, requestSchema(schema, `${operationId}, ${part}`, schemas)]),
  );
  const ajv = compiler();
  const validate = ajv.compile({ type: 'object', required: Object.keys(request), properties });
  const { body, pathParameters, queryStringParameters } = request;

  const constants: [name: string, value: unknown, type: string][] = [['operationId', operationId, 'string']];
  if (body) constants.push(['int64s', int64Paths(properties['body'] ?? {}), 'string[][]']);
  if (pathParameters || queryStringParameters) {
    const value = {
      pathParameters: parameterTypes(pathParameters),
      queryStringParameters: parameterTypes(queryStringParameters),
    };
    constants.push(['parameters', value, "import('../shared/typed-parameters.ts').ParameterTypes"]);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    const members = membersOf(schema, schemas);
    if (members.length > 0) constants.push([`${lowerFirst(name)}Members`, members, `(keyof ${name})[]`]);
  }
  const event = Object.entries(request).map(([part, schema]) => `  ${part}: ${typeOf(schema, schemas)};`);
  return {
    code: [
      ...constants.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`),
      standaloneCode.default(ajv, validate),
    ].join('\n'),
    types: [
      ...Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema, schemas)};\n`),
      '/** The event of a request that is as the contract has it. */',
      `export interface ${upperFirst(operationId)}Event {\n${event.join('\n')}\n}\n`,
      ...constants.map(([name, , type]) => `export declare const ${name}: ${type};`),
      '\n/** Tells whether an event is as the contract has it; says why not in `errors`. */',
      "declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;",
      'export default validate;',
    ].join('\n'),
  };
}

/** What the texts of parameters are made of them, by their names. */
function parameterTypes({ properties = {} }: Schema = {}): Record<string, string | [string]> {
  const ofSchema = (schema: Schema) => (kindOf(schema) === 'int32' ? 'number' : kindOf(schema));
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      schema.items ? [ofSchema(schema.items)] : ofSchema(schema),
    ]),
  );
}

const lowerFirst = (text: string) => text.replace(/^./, (letter) => letter.toLowerCase());
const upperFirst = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

if (import.meta.main) {
  await command(async () => {
    for (const [path, text] of Object.entries(generate())) writeFileSync(join(root, path), text);
  });
}
