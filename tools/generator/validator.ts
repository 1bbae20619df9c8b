import { _, Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { buildSync } from 'esbuild';
import { RE2JS } from 're2js';
import { MAX_INT32, type Member, MIN_INT32 } from './members.ts';

/** Returns the schema of a member, for the values that `parseWithExactNumbers` returns. */
function schemaOf({ type, constraints }: Member): AnySchemaObject {
  if (type === 'int64') return { int64: true };
  if (type === 'int32') return { type: 'integer', minimum: MIN_INT32, maximum: MAX_INT32, ...constraints };
  return type === 'string' ? { type, wellFormed: true, ...constraints } : { type };
}

/**
 * Compiles patterns for Ajv, and `code` does so in the generated module. The engine of JavaScript could take minutes for
 * a short text, but the time of RE2 is at most that of the text times the pattern. Ajv tests a pattern also on a text
 * that is longer than its maxLength, which is at most 1,000 characters of one or two UTF-16 units.
 */
const RE2 = Object.assign((pattern: string) => RE2JS.compile(pattern), {
  code: `((pattern) => {
  const re2 = RE2JS.compile(pattern);
  return { test: (text) => text.length > 2000 || re2.test(text) };
})`,
});

/** Returns the TypeScript module that validates an event with a NewPlant as its body. */
export function validatorModule(members: Member[]): string {
  const code = { source: true, esm: true, regExp: RE2 };
  const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, code });
  // Ajv's own types reject a bigint.
  ajv.addKeyword({
    keyword: 'int64',
    code: (cxt) => {
      const { data } = cxt;
      cxt.fail(_`typeof ${data} === "bigint" ? BigInt.asIntN(64, ${data}) !== ${data} : !Number.isInteger(${data})`);
    },
  });
  // DynamoDB stores UTF-8, which cannot encode a lone surrogate.
  ajv.addKeyword({ keyword: 'wellFormed', type: 'string', code: (cxt) => cxt.fail(_`!${cxt.data}.isWellFormed()`) });
  const body = {
    type: 'object',
    required: members.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(members.map((member) => [member.name, schemaOf(member)])),
  };
  const validate = ajv.compile({ type: 'object', required: ['body'], properties: { body } });
  // Without a pattern, an import would stay in the bundle.
  const imports = members.some(({ constraints }) => 'pattern' in constraints) ? "import { RE2JS } from 're2js';\n" : '';
  // Includes what Ajv's code requires, as for `maxLength`. Its path must be the same on every machine.
  const stdin = { contents: imports + standaloneCode.default(ajv, validate), resolveDir: import.meta.dirname };
  const options = { bundle: true, format: 'esm', write: false, preserveSymlinks: true } as const;
  const { outputFiles } = buildSync({ ...options, stdin, external: ['re2js'] });
  return [
    '// Generated from openapi.yaml by npm run generate. Do not edit.',
    "// @ts-nocheck because Ajv's code has no types.",
    outputFiles[0]?.text,
  ].join('\n');
}
