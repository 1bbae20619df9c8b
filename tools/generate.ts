import { readFileSync, writeFileSync } from 'node:fs';
import { _, Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';
import { command } from './command.ts';

const USAGE = `Usage: npm run generate

Compiles the schema NewPlant of openapi.yaml to the validator of the function.`;

const VALIDATOR = 'functions/create-plant/validate-event.generated.js';

/** A schema of the contract. NewPlant uses only these keywords. */
interface Schema {
  description?: string;
  type?: string;
  format?: string;
  $ref?: string;
  allOf?: Schema[];
  required?: string[];
  properties?: Record<string, Schema>;
}

/**
 * Reads NewPlant, merged with its `allOf`, so that a validator reports all missing members first.
 *
 * @param contract the text of an OpenAPI document
 * @throws for what the validator does not support
 */
export function readNewPlant(contract: string) {
  const schemas: Record<string, Schema> = parse(contract).components.schemas;
  const required: string[] = [];
  const properties: Record<string, object> = {};
  function add(schema: Schema): void {
    const { $ref, allOf = [], required: names = [], properties: members = {}, type = 'object', ...others } = schema;
    rejectKeywords('NewPlant', others);
    if (type !== 'object') throw new Error(`The type of NewPlant, or of a part of it, was ${type}; it must be object.`);
    if ($ref !== undefined) {
      const target = schemas[$ref.replace('#/components/schemas/', '')];
      if (!target) throw new Error(`The $ref "${$ref}" does not exist; it must be "#/components/schemas/NAME".`);
      add(target);
    }
    allOf.forEach(add);
    required.push(...names);
    for (const [name, member] of Object.entries(members)) {
      if (Object.hasOwn(properties, name)) throw new Error(`NewPlant has the member ${name} twice.`);
      properties[name] = memberSchema(name, member);
    }
  }
  add({ $ref: '#/components/schemas/NewPlant' });
  const undeclared = required.find((name) => !Object.hasOwn(properties, name));
  if (undeclared !== undefined) throw new Error(`NewPlant requires ${undeclared}, which is not among its properties.`);
  return { type: 'object', required, properties };
}

function memberSchema(name: string, { type, format, ...others }: Schema): object {
  rejectKeywords(`The member ${name} of NewPlant`, others);
  if (type === 'integer' && format === 'int64') return { int64: true };
  if (type === 'string' && format === undefined) return { type, wellFormed: true };
  throw new Error(
    `The member ${name} of NewPlant has the type ${type} and the format ${format}; it must be a string without a format, or an integer with the format int64.`,
  );
}

function rejectKeywords(place: string, { description: _, ...others }: Schema): void {
  const [keyword] = Object.keys(others);
  if (keyword !== undefined)
    throw new Error(`${place} has the keyword ${keyword}, which the validator does not support.`);
}

/** Returns the code that validates an event with a NewPlant as its body, as an ES module. */
export function compileValidator(contract: string): string {
  const code = { source: true, esm: true, lines: true };
  const ajv = new Ajv2020({ allErrors: true, verbose: true, code });
  // The parser makes each whole number a bigint, which Ajv's `integer` does not accept.
  const isNoInt64 = ({ data }: KeywordCxt) => _`typeof ${data} !== "bigint" || BigInt.asIntN(64, ${data}) !== ${data}`;
  ajv.addKeyword({ keyword: 'int64', code: (context) => context.fail(isNoInt64(context)) });
  // DynamoDB stores UTF-8, which cannot encode a lone surrogate.
  const isMalformed = ({ data }: KeywordCxt) => _`!${data}.isWellFormed()`;
  ajv.addKeyword({ keyword: 'wellFormed', type: 'string', code: (context) => context.fail(isMalformed(context)) });
  const validate = ajv.compile({ type: 'object', properties: { body: readNewPlant(contract) } });
  return `// Generated from openapi.yaml by npm run generate. Do not edit.\n${standaloneCode.default(ajv, validate)}\n`;
}

if (import.meta.main) {
  await command({ usage: USAGE }, async () => {
    writeFileSync(VALIDATOR, compileValidator(readFileSync('openapi.yaml', 'utf8')));
    console.log(`Wrote ${VALIDATOR}.`);
  });
}
