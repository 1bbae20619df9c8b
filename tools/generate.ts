import { readFileSync, writeFileSync } from 'node:fs';
import { _, Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { buildSync } from 'esbuild';
import { parse } from 'yaml';
import { command } from './command.ts';

const USAGE = `Usage: npm run generate

Compiles the schema NewPlant of openapi.yaml to the validator of the function.`;

export const VALIDATOR = 'functions/create-plant/validate-event.generated.ts';

/** Adapts the contract's schemas to the values that the function parses. Called for each value of the contract. */
function adapt(name: unknown, value: unknown): unknown {
  // The validator does not need it, and would differ after each change of a text.
  if (name === 'description' && typeof value === 'string') return undefined;
  const { type, format, ...others } = Object(value);
  // DynamoDB stores UTF-8, which cannot encode a lone surrogate.
  if ([type].flat().includes('string')) return { ...Object(value), wellFormed: true };
  // The parser makes a bigint of an `id`, and a NumberText of every other number. Ajv's types accept neither.
  const isNumber = [type].flat().some((item) => item === 'integer' || item === 'number');
  return isNumber ? { ...others, int64: name === 'id' && type === 'integer' && format === 'int64' } : value;
}

/** Returns the TypeScript module that validates an event with a NewPlant as its body. */
export function compileValidator(contract: string): string {
  const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, code: { source: true, esm: true } });
  ajv.addVocabulary(['components', 'example']);
  ajv.addKeyword({
    keyword: 'int64',
    code: (cxt) => {
      const { data, schema, parentSchema, it } = cxt;
      if (!schema || 'enum' in parentSchema) {
        throw new Error(`${it.errSchemaPath} is a number, which only the id can be: an int64 without enum`);
      }
      cxt.fail(_`typeof ${data} !== "bigint" || BigInt.asIntN(64, ${data}) !== ${data}`);
    },
  });
  ajv.addKeyword({ keyword: 'wellFormed', type: 'string', code: (cxt) => cxt.fail(_`!${cxt.data}.isWellFormed()`) });
  const { components } = parse(contract, adapt);
  const body = { $ref: 'openapi.yaml#/components/schemas/NewPlant' };
  let code: string;
  try {
    ajv.addSchema({ components }, 'openapi.yaml');
    code = standaloneCode.default(ajv, ajv.compile({ type: 'object', required: ['body'], properties: { body } }));
  } catch (thrown) {
    throw new Error(
      `${(thrown as Error).message}. Correct NewPlant, or a schema that it uses, in openapi.yaml: "A constraint" in CONTRIBUTING.md says what they can contain.`,
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
