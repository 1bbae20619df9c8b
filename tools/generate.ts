import { readFileSync, writeFileSync } from 'node:fs';
import { _, Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { buildSync } from 'esbuild';
import { parse } from 'yaml';
import { command } from './command.ts';

const USAGE = `Usage: npm run generate

Compiles the schema NewPlant of openapi.yaml to the validator of the function.`;

export const VALIDATOR = 'functions/create-plant/validate-event.generated.ts';

/** Adapts the contract's schemas to the values that the function parses. Called for each value, the inner ones first. */
function adapt(name: unknown, value: unknown): unknown {
  // Descriptions are left out. Otherwise the generated file would change with each of them.
  if (name === 'description' && typeof value === 'string') return undefined;
  const schema = Object(value);
  if (name === 'properties') {
    // The parser makes a symbol of a number that is not exact. Only a type of its own keeps it out of a member.
    for (const [member, adapted] of Object.entries(schema)) {
      const { type, $ref, int64, rejected } = Object(adapted);
      if (/array|object/.test(type)) schema[member] = { rejected: 'must be a string, an int32 or a boolean' };
      if (!(type || $ref || int64 || rejected)) schema[member] = { rejected: 'has no type; write "type: string"' };
    }
    return schema;
  }
  if ('const' in schema) return { rejected: 'has the keyword const; write enum, with a list of one value' };
  const types = [schema.type].flat();
  // DynamoDB stores UTF-8, which cannot encode a lone surrogate.
  if (types.includes('string')) return { ...schema, wellFormed: true };
  if (types.includes('number')) return { rejected: 'can have decimals; use an int32 of a smaller unit, or a string' };
  return types.includes('integer') ? adaptInteger(name, schema) : value;
}

function adaptInteger(name: unknown, { format, example: _example, ...schema }: AnySchemaObject): AnySchemaObject {
  if (format === 'int32') {
    const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity, ...others } = schema;
    const minimum = Math.max(-(2 ** 31), exclusiveMinimum + 1, others['minimum'] ?? -Infinity);
    const maximum = Math.min(2 ** 31 - 1, exclusiveMaximum - 1, others['maximum'] ?? Infinity);
    return { ...others, minimum, maximum };
  }
  if (format !== 'int64') return { rejected: 'is an integer of an unknown size; write "format: int32"' };
  // JSON.stringify, which writes the response, throws for a bigint.
  if (name !== 'id') return { rejected: 'is an int64, which only the id can be; use an int32 or a string' };
  const isPlain = Object.keys(schema).join() === 'type' && schema['type'] === 'integer';
  return isPlain ? { int64: true } : { rejected: 'is an int64, which can have no other keyword, and must not be null' };
}

/** Returns the TypeScript module that validates an event with a NewPlant as its body. */
export function compileValidator(contract: string): string {
  const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, code: { source: true, esm: true } });
  ajv.addVocabulary(['components', 'example']);
  ajv.addKeyword({
    keyword: 'rejected',
    code: ({ schema, it }) => {
      throw new Error(`${it.errSchemaPath} ${schema}`);
    },
  });
  // Ajv's own types reject a bigint.
  ajv.addKeyword({
    keyword: 'int64',
    code: (cxt) => {
      const { data } = cxt;
      cxt.fail(_`typeof ${data} === "bigint" ? BigInt.asIntN(64, ${data}) !== ${data} : !Number.isInteger(${data})`);
    },
  });
  ajv.addKeyword({ keyword: 'wellFormed', type: 'string', code: (cxt) => cxt.fail(_`!${cxt.data}.isWellFormed()`) });
  const body = { $ref: 'openapi.yaml#/components/schemas/NewPlant' };
  let code: string;
  try {
    const { components } = parse(contract, adapt);
    ajv.addSchema({ components }, 'openapi.yaml');
    code = standaloneCode.default(ajv, ajv.compile({ type: 'object', required: ['body'], properties: { body } }));
  } catch (thrown) {
    throw new Error(
      `${(thrown as Error).message}. Correct openapi.yaml: "A new member" and "A constraint" in CONTRIBUTING.md say what a schema can contain.`,
    );
  }
  // Includes what Ajv's code requires, as for `maxLength`. Its path must be the same on every machine.
  const stdin = { contents: code, resolveDir: import.meta.dirname };
  const { outputFiles } = buildSync({ stdin, bundle: true, format: 'esm', write: false, preserveSymlinks: true });
  return [
    '// Generated from openapi.yaml by npm run generate. Do not edit.',
    "// @ts-nocheck because Ajv's code has no types.",
    outputFiles[0]?.text,
  ].join('\n');
}

if (import.meta.main) {
  await command({ usage: USAGE }, async () => {
    writeFileSync(VALIDATOR, compileValidator(readFileSync('openapi.yaml', 'utf8')));
    console.log(`Wrote ${VALIDATOR}.`);
  });
}
