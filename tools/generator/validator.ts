import { _, Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { usePattern } from 'ajv/dist/vocabularies/code.js';
import { buildSync } from 'esbuild';
import { MAX_INT32, type Member, MIN_INT32 } from './members.ts';

/** Returns the schema of a member, for the values that `parseWithExactNumbers` returns. */
function schemaOf({ type, constraints }: Member): AnySchemaObject {
  if (type === 'int64') return { int64: true };
  if (type === 'int32') return { type: 'integer', minimum: MIN_INT32, maximum: MAX_INT32, ...constraints };
  return type === 'string' ? { type, wellFormed: true, ...constraints } : { type };
}

/** Returns the TypeScript module that validates an event with a NewPlant as its body. */
export function validatorModule(members: Member[]): string {
  const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, code: { source: true, esm: true } });
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
  // Ajv's own keyword would test a pattern also on a text that is too long, which can take seconds. A character has one
  // or two UTF-16 units.
  ajv.removeKeyword('pattern').addKeyword({
    keyword: 'pattern',
    type: 'string',
    code: (cxt) => {
      const { data, parentSchema, schema } = cxt;
      // Ajv's schema of schemas has patterns without a maxLength.
      const { maxLength = Infinity } = parentSchema;
      const isShort = _`${data}.length <= ${2 * maxLength} && [...${data}].length <= ${maxLength}`;
      cxt.fail(_`${isShort} && !${usePattern(cxt, schema)}.test(${data})`);
    },
  });
  const body = {
    type: 'object',
    required: members.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(members.map((member) => [member.name, schemaOf(member)])),
  };
  const validate = ajv.compile({ type: 'object', required: ['body'], properties: { body } });
  // Includes what Ajv's code requires, as for `maxLength`. Its path must be the same on every machine.
  const stdin = { contents: standaloneCode.default(ajv, validate), resolveDir: import.meta.dirname };
  const { outputFiles } = buildSync({ stdin, bundle: true, format: 'esm', write: false, preserveSymlinks: true });
  return [
    '// Generated from openapi.yaml by npm run generate. Do not edit.',
    "// @ts-nocheck because Ajv's code has no types.",
    outputFiles[0]?.text,
  ].join('\n');
}
