import { expect, test } from 'vitest';
import { parseContract } from '../../model/contract.ts';
import { generate } from './generate.ts';
import { type ResolvedSchema, toTypeScript, validatorSchema } from './schema.ts';

/** Each supported keyword with a setting, a valid value and an invalid value. */
type Keywords = Record<string, [setting: unknown, valid: unknown, invalid: unknown]>;

interface TypeCase {
  schema: ResolvedSchema;
  keywords: Keywords;
  /** The valid ones of VALUES. */
  values: unknown[];
  type: string;
}

const BOUNDS: Keywords = {
  minimum: [2, 2, 1],
  maximum: [2, 2, 3],
  exclusiveMinimum: [2, 3, 2],
  exclusiveMaximum: [2, 1, 2],
};
const INT32S = [-(2 ** 31), -1, 0, 2 ** 31 - 1];
const NUMBERS = [...INT32S, -(2 ** 31) - 1, 2 ** 31, 0.5, 1e-130, -9.99e125];
const INT64S = [-(2n ** 63n), 0n, 2n ** 63n - 1n];

const TYPES: TypeCase[] = [
  {
    schema: { type: 'object', properties: { a: { type: 'number' } } },
    keywords: {
      properties: [{ a: { type: 'boolean' } }, { a: true }, { a: 1 }],
      required: [['a'], { a: 1 }, {}],
    },
    values: [{}],
    type: '{ "a"?: number }',
  },
  {
    schema: { type: 'array', items: { type: 'number' } },
    keywords: {
      items: [{ type: 'boolean' }, [true, false], [true, 1]],
      minItems: [2, [1, 2], [1]],
      maxItems: [2, [1, 2], [1, 2, 3]],
    },
    values: [[]],
    type: '(number)[]',
  },
  {
    schema: { type: 'string' },
    keywords: {
      minLength: [2, '🌱🌱', '🌱'],
      maxLength: [2, '🌱🌱', '🌱🌱🌱'],
      pattern: ['^a', 'ab', 'ba'],
      enum: [['a', 'b'], 'b', 'c'],
    },
    values: ['', '🌱'],
    type: 'string',
  },
  { schema: { type: 'number' }, keywords: BOUNDS, values: NUMBERS, type: 'number' },
  {
    schema: { type: 'integer', format: 'int32' },
    // Of a number, it would reject most fractions: 19.99 is no multiple of 0.01 in binary.
    keywords: { ...BOUNDS, multipleOf: [2, 4, 3] },
    values: INT32S,
    type: 'number',
  },
  { schema: { type: 'integer', format: 'int64' }, keywords: {}, values: INT64S, type: 'bigint' },
  { schema: { type: 'integer' }, keywords: {}, values: INT64S, type: 'bigint' },
  { schema: { type: 'boolean' }, keywords: {}, values: [true, false], type: 'boolean' },
];
const VALUES = [
  ...[{}, [], '', '🌱', '\ud83c', true, false, null, 1e-131, 1e126, -(2n ** 63n) - 1n, 2n ** 63n],
  ...[...NUMBERS, ...INT64S],
];

/** The validating keywords of JSON Schema 2020-12 and OpenAPI 3.1, except `$ref` and `allOf` (resolved first). */
const KEYWORDS = [
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties'],
  ...['minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas', 'discriminator'],
  ...['items', 'minItems', 'maxItems', 'prefixItems', 'contains', 'minContains', 'maxContains', 'uniqueItems'],
  ...['unevaluatedItems', 'minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'],
  ...['contentSchema', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['enum', 'const', 'default', 'oneOf', 'anyOf', 'not', 'if', 'then', 'else', 'readOnly', 'writeOnly', 'nullable'],
];
const ANNOTATIONS = { description: 'x', title: 'x', example: 'x', examples: ['x'], deprecated: true };

/** Generates a validator for a body that has a member of each schema, with the index of the schema as its name. */
async function generateValidator(schemas: ResolvedSchema[]): Promise<(index: number, value: unknown) => boolean> {
  const body = { type: 'object', properties: Object.fromEntries(schemas.entries()) };
  const content = { 'application/json': { schema: body } };
  const responses = { 200: { content }, 400: { content } };
  const put = { operationId: 'put', requestBody: { required: true, content }, responses };
  const contract = parseContract(JSON.stringify({ paths: { '/': { put } } }));
  const code = generate(contract)['functions/put/contract.generated.js'] ?? '';
  const { default: validate } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return (index, value) => validate({ body: { [index]: value } });
}

test.each(TYPES)('validates $schema, with each supported keyword', async ({ schema, keywords, values, type }) => {
  expect(toTypeScript(schema)).toBe(type);
  const cases = Object.entries(keywords);
  const variants = cases.map(([keyword, [setting]]) => ({ ...schema, [keyword]: setting }));
  const isValidFor = await generateValidator([...variants, schema]);
  expect(VALUES.filter((value) => isValidFor(variants.length, value))).toEqual(values);
  for (const [index, [keyword, [, valid, invalid]]] of cases.entries()) {
    const isValid = (value: unknown) => isValidFor(index, value);
    expect([keyword, isValid(valid), isValid(invalid)]).toEqual([keyword, true, false]);
    // The keyword makes no value of another type valid, and does not throw for one.
    expect(values).toEqual(expect.arrayContaining(VALUES.filter(isValid)));
  }
});

test.each(TYPES)('throws for any other keyword of $schema', ({ schema, keywords }) => {
  const hasFormat = schema.type === 'number' || schema.type === 'integer';
  const supported = [...(hasFormat ? ['format'] : []), ...Object.keys(keywords)];
  for (const keyword of KEYWORDS.filter((each) => !supported.includes(each))) {
    expect(() => validatorSchema({ ...schema, [keyword]: {} }, 'put.body')).toThrow(
      `put.body has the keyword ${keyword}; its type supports only these keywords: ${supported.join(', ') || 'none'}.`,
    );
  }
  expect(validatorSchema({ ...schema, ...ANNOTATIONS }, 'put.body')).toEqual(validatorSchema(schema, 'put.body'));
});

test.each(['items', 'properties'])('throws for more levels of %s than DynamoDB can store', (content) => {
  const nested = (levels: number): ResolvedSchema => {
    const inner: ResolvedSchema = levels > 1 ? nested(levels - 1) : { type: 'string' };
    return content === 'items' ? { type: 'array', items: inner } : { type: 'object', properties: { a: inner } };
  };
  expect(() => validatorSchema(nested(32), 'put.body')).not.toThrow();
  expect(() => validatorSchema(nested(33), 'put.body')).toThrow('is at level 33; the maximum is 32.');
});
