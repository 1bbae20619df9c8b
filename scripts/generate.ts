import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { _, Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';

/*
 * Compiles the contract's request schemas ahead of time: for each operation of openapi.yaml, the
 * validator of its event and the types of its schemas, into the folder of its function.
 * At run time this would cost 72 ms of every cold start.
 */

type Schema = Record<string, unknown> & {
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
};

interface Operation {
  operationId: string;
  requestBody: { content: { 'application/json': { schema: { $ref: string } } } };
}

interface Contract {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const root = join(import.meta.dirname, '..');
const header = '// Generated from openapi.yaml by scripts/generate.ts (npm run generate). Do not edit.\n';

/** A compiler of its own for each run: it numbers what it compiles, and the files must come out the same each time. */
function compiler(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, code: { source: true, esm: true, lines: true } });
  // An int64 beyond 2^53 arrives as a bigint, which Ajv's own `integer` refuses.
  ajv.addKeyword({
    keyword: 'int64',
    code: (keyword) =>
      keyword.fail(_`typeof ${keyword.data} !== "bigint" || BigInt.asIntN(64, ${keyword.data}) !== ${keyword.data}`),
  });
  // A lone surrogate has no UTF-8, so the table could not give it back.
  ajv.addKeyword({
    keyword: 'wellFormed',
    type: 'string',
    code: (keyword) => keyword.fail(_`!${keyword.data}.isWellFormed()`),
  });
  return ajv;
}

/** The files that the contract makes, by their path from the project's root. */
export function generate(): Record<string, string> {
  const contract = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8')) as Contract;
  const schemas = contract.components.schemas;
  const files: Record<string, string> = {};
  const ajv = compiler();
  for (const { operationId, requestBody } of Object.values(contract.paths).flatMap((path) => Object.values(path))) {
    const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1) ?? '';
    const validate = ajv.compile({
      type: 'object',
      required: ['body'],
      properties: { body: forBigints(schemas[name] ?? {}) },
    });
    const folder = `functions/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    files[`${folder}/contract.generated.js`] = `${header}${standaloneCode.default(ajv, validate)}\n`;
    files[`${folder}/contract.generated.d.ts`] = [
      header,
      ...Object.entries(schemas).map(([schemaName, schema]) => typeOf(schemaName, schema)),
      `/** Tells whether an event's parsed body is a ${name}; says why not in \`errors\`. */`,
      "declare const validate: import('ajv').Ajv & import('ajv').ValidateFunction;",
      'export default validate;\n',
    ].join('\n');
  }
  return files;
}

/** The schema as the parsed body has it: each int64 a bigint, each string well-formed. */
function forBigints(schema: Schema): Schema {
  if (schema.format === 'int64') return { int64: true };
  if (schema.type === 'string') return { ...schema, wellFormed: true };
  const properties = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, forBigints(member)]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function typeOf(name: string, schema: Schema): string {
  const members = Object.entries(schema.properties ?? {}).map(([member, { type, format }]) => {
    const typeName = format === 'int64' ? 'bigint' : type === 'integer' ? 'number' : type;
    return `  ${member}${schema.required?.includes(member) ? '' : '?'}: ${typeName};`;
  });
  return `export interface ${name} {\n${members.join('\n')}\n}\n`;
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generate())) writeFileSync(join(root, path), text);
}
