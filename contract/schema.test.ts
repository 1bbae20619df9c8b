import { expect, test } from 'vitest';
import { generate } from './generate.ts';
import { type Schema, typeOf, validated } from './schema.ts';

/** By keyword: what it is set to, a value that passes then, and one that does not. */
type Checks = Record<string, [setting: unknown, passes: unknown, fails: unknown]>;

interface Kind {
  schema: Schema;
  checks: Checks;
  /** Of all VALUES those that pass. */
  values: unknown[];
  type: string;
}

const BOUNDS: Checks = {
  minimum: [2, 2, 1],
  maximum: [2, 2, 3],
  exclusiveMinimum: [2, 3, 2],
  exclusiveMaximum: [2, 1, 2],
  multipleOf: [2, 4, 3],
};
const INT32S = [-(2 ** 31), -1, 0, 2 ** 31 - 1];
const NUMBERS = [...INT32S, -(2 ** 31) - 1, 2 ** 31, 0.5, 1e-130, -9.9e125];
const INT64S = [-(2n ** 63n), 0n, 2n ** 63n - 1n];

const KINDS: Kind[] = [
  {
    schema: { type: 'object' },
    checks: {
      properties: [{ a: { type: 'boolean' } }, { a: true }, { a: 1 }],
      required: [['a'], { a: 1 }, { b: 1 }],
    },
    values: [{}],
    type: '{  }',
  },
  {
    schema: { type: 'array' },
    checks: {
      items: [{ type: 'boolean' }, [true, false], [true, 1]],
      minItems: [2, [1, 2], [1]],
      maxItems: [2, [1, 2], [1, 2, 3]],
    },
    values: [[]],
    type: '(unknown)[]',
  },
  {
    schema: { type: 'string' },
    checks: {
      minLength: [2, '🌱🌱', '🌱'],
      maxLength: [2, '🌱🌱', '🌱🌱🌱'],
      pattern: ['^a', 'ab', 'ba'],
      enum: [['a', 'b'], 'b', 'c'],
    },
    values: ['', '🌱'],
    type: 'string',
  },
  { schema: { type: 'number' }, checks: BOUNDS, values: NUMBERS, type: 'number' },
  { schema: { type: 'number', format: 'double' }, checks: BOUNDS, values: NUMBERS, type: 'number' },
  { schema: { type: 'integer', format: 'int32' }, checks: BOUNDS, values: INT32S, type: 'number' },
  { schema: { type: 'integer', format: 'int64' }, checks: {}, values: INT64S, type: 'bigint' },
  { schema: { type: 'integer' }, checks: {}, values: INT64S, type: 'bigint' },
  { schema: { type: 'boolean' }, checks: {}, values: [true, false], type: 'boolean' },
];
const VALUES = [
  ...[{}, [], '', '🌱', '\ud83c', true, false, null, 1e-131, 1e126, -(2n ** 63n) - 1n, 2n ** 63n],
  ...[...NUMBERS, ...INT64S],
];

/** Those of JSON Schema 2020-12 and OpenAPI 3.1 that ask something of a value; `$ref` and `allOf` are resolved before. */
const KEYWORDS = [
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties'],
  ...['minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas', 'discriminator'],
  ...['items', 'minItems', 'maxItems', 'prefixItems', 'contains', 'minContains', 'maxContains', 'uniqueItems'],
  ...['unevaluatedItems', 'minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'],
  ...['contentSchema', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['enum', 'const', 'default', 'oneOf', 'anyOf', 'not', 'if', 'then', 'else', 'readOnly', 'writeOnly', 'nullable'],
];
const ANNOTATIONS = { description: 'x', title: 'x', example: 'x', examples: ['x'], deprecated: true };

/** Tells whether a request whose body has such a member passes the validator that is generated. */
async function validatorOf(schema: Schema): Promise<(value: unknown) => boolean> {
  const body = { type: 'object', properties: { it: schema } };
  const content = { 'application/json': { schema: body } };
  const responses = { 200: { content }, 400: { content } };
  const put = { operationId: 'put', requestBody: { required: true, content }, responses };
  const contract = JSON.stringify({ paths: { '/': { put } }, components: { schemas: {} } });
  const code = generate(contract)['functions/put/contract.generated.js'] ?? '';
  const { default: validate } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return (value) => validate({ body: { it: value } });
}

test.each(KINDS)('$schema is a $type, and each keyword that it takes is checked', async ({ schema, ...kind }) => {
  expect(typeOf(schema)).toBe(kind.type);
  expect(VALUES.filter(await validatorOf(schema))).toEqual(kind.values);
  for (const [keyword, [setting, good, bad]] of Object.entries(kind.checks)) {
    const passes = await validatorOf({ ...schema, [keyword]: setting });
    expect({ keyword, good: passes(good), bad: passes(bad) }).toEqual({ keyword, good: true, bad: false });
    // A value of another type passes no more than without the keyword, and makes it throw nothing.
    expect(kind.values).toEqual(expect.arrayContaining(VALUES.filter(passes)));
  }
});

test.each(KINDS)('of $schema any other keyword is refused, with those that are taken', ({ schema, checks }) => {
  const ofNumber = schema.type === 'number' || schema.type === 'integer';
  const taken = [...(ofNumber ? ['format'] : []), ...Object.keys(checks)];
  for (const keyword of KEYWORDS.filter((one) => !taken.includes(one))) {
    expect(() => validated({ ...schema, [keyword]: {} }, 'put.body')).toThrow(
      `put.body has ${keyword}; of its type only these are checked: ${taken.join(', ') || 'none'}.`,
    );
  }
  expect(validated({ ...schema, ...ANNOTATIONS }, 'put.body')).toEqual(validated(schema, 'put.body'));
});

test('of an object those members may be missing that it does not require', () => {
  const properties = { a: { type: 'boolean' }, b: { type: 'string' } };
  expect(typeOf({ type: 'object', properties })).toBe('{ "a"?: boolean; "b"?: string }');
  expect(typeOf({ type: 'object', properties, required: ['b'] })).toBe('{ "a"?: boolean; "b": string }');
});
