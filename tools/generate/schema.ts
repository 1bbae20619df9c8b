import type { SchemaObject as ValidatorSchema } from 'ajv';
import type { OpenAPIV3_1 } from 'openapi-types';
import type { Scalar, Shape } from '../../functions/json/shape.ts';

/** A schema of the contract. */
export type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

/** A schema of the contract in which each `$ref` and `allOf` is replaced. */
export interface ResolvedSchema extends Omit<OpenAPIV3_1.BaseSchemaObject, 'properties'> {
  type?: OpenAPIV3_1.SchemaObject['type'];
  properties?: Record<string, ResolvedSchema>;
  items?: ResolvedSchema;
}

/** Returns a record with the same keys and converted values. */
export function mapValues<From, To>(record: Record<string, From>, convert: (value: From, key: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value, key)]));
}

/** Returns a schema's type; for an integer its format, by default int64. */
export function valueType({ type, format }: ResolvedSchema): string {
  return type === 'integer' ? (format ?? 'int64') : String(type);
}

/**
 * Replaces each `$ref` (`#/components/schemas/NAME`) and `allOf`.
 *
 * @param schemas the contract's schemas by name
 * @param parents the names of the schemas that contain this one; default: none
 * @throws if the schema contains itself, or a `$ref` or an `allOf` is not supported
 */
export function resolve(schema: Schema, schemas: Record<string, Schema>, parents: string[] = []): ResolvedSchema {
  if ('$ref' in schema) {
    // The name becomes the name of a TypeScript type.
    const [, name = ''] = /^#\/components\/schemas\/([a-z_]\w*)$/i.exec(schema.$ref) ?? [];
    const target = schemas[name];
    if (!target) {
      const expected = 'it must be "#/components/schemas/NAME", with letters, digits and underscores';
      throw new Error(`The $ref "${schema.$ref}" does not exist; ${expected}.`);
    }
    const sibling = unsupportedKeyword(schema, ['$ref']);
    if (sibling !== undefined) throw new Error(`"${schema.$ref}" has ${sibling} beside it; this is not supported.`);
    if (parents.includes(name)) throw new Error(`The schema ${name} contains itself; this is not supported.`);
    return resolve(target, schemas, [...parents, name]);
  }
  const resolveChild = (child: Schema) => resolve(child, schemas, parents);
  const resolveMember = (child: Schema | null, name: string) => {
    if (!child) throw new Error(`The member ${name} has no schema.`);
    return resolveChild(child);
  };
  const { allOf = [], properties, ...keywords } = schema;
  const own: ResolvedSchema = {
    ...keywords,
    ...(properties && { properties: mapValues(properties, resolveMember) }),
    ...('items' in schema && schema.items && { items: resolveChild(schema.items) }),
  };
  if (allOf.length === 0) return own;
  const parts = [...allOf.map(resolveChild), own];
  const other = parts.find(({ type = 'object' }) => type !== 'object');
  if (other) throw new Error(`A part of an allOf is of type ${other.type}; it must be an object.`);
  const names = parts.flatMap(({ properties = {} }) => Object.keys(properties));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new Error(`Two parts of an allOf have the member ${repeated}; only one may have it.`);
  return {
    // Also the unsupported keywords of the parts, so that `validatorSchema` rejects them.
    ...Object.assign({}, ...parts),
    type: 'object',
    required: [...new Set(parts.flatMap(({ required = [] }) => required))],
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
  };
}

/** Keywords that do not affect the validation. */
const ANNOTATIONS = ['description', 'title', 'example', 'examples', 'deprecated'];
const NUMBER_KEYWORDS = ['format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
/** The supported keywords of each type, and the schema that every value of the type must match. */
const TYPES: Record<string, { keywords: string[]; base: ValidatorSchema }> = {
  // Ajv removes other members.
  object: { keywords: ['properties', 'required'], base: { type: 'object', additionalProperties: false } },
  array: { keywords: ['items', 'minItems', 'maxItems'], base: { type: 'array' } },
  string: { keywords: ['minLength', 'maxLength', 'pattern', 'enum'], base: { type: 'string', wellFormed: true } },
  number: { keywords: NUMBER_KEYWORDS, base: { type: 'number', storable: true } },
  int32: { keywords: [...NUMBER_KEYWORDS, 'multipleOf'], base: { type: 'integer', int32: true } },
  int64: { keywords: ['format'], base: { int64: true } },
  boolean: { keywords: [], base: { type: 'boolean' } },
};

/** "Constraints in Amazon DynamoDB", nested attributes. The item is the first level. */
const MAX_LEVELS = 32;

/**
 * Converts a resolved schema to the validator's: an int64 is a bigint, a string is well-formed, a number fits into
 * DynamoDB.
 *
 * @param place the schema's name in the error's message, such as `putBed.body`
 * @param level the number of objects and arrays from the body to this schema
 * @throws if the schema has a type or keyword that is not supported, or is nested too deeply
 */
export function validatorSchema(schema: ResolvedSchema, place: string, level = 1): ValidatorSchema {
  const type = supportedType(schema, place);
  const unsupported = unsupportedKeyword(schema, type.keywords);
  if (unsupported !== undefined) {
    const supported = type.keywords.join(', ') || 'none';
    throw new Error(`${place} has the keyword ${unsupported}; its type supports only these keywords: ${supported}.`);
  }
  const { required = [], properties: declared = {} } = schema;
  const undeclared = required.find((name) => !Object.hasOwn(declared, name));
  if (undeclared !== undefined) {
    throw new Error(`${place} requires ${undeclared}; a required name must be one of its properties.`);
  }
  // Each object has such a member, so the validator would not find it missing.
  const inherited = Object.keys(declared).find((name) => name in {});
  if (inherited !== undefined)
    throw new Error(`${place} has the member ${inherited}, which all objects have; choose another name.`);
  const content = ({ object: 'properties', array: 'items' } as const)[valueType(schema)];
  // Without these, the validator would remove all members of an object, and accept any item of an array.
  if (content && !schema[content]) throw new Error(`${place} has no ${content}; its type needs them.`);
  if (content && level > MAX_LEVELS) throw new Error(`${place} is at level ${level}; the maximum is ${MAX_LEVELS}.`);
  // `base` has the type, and replaces the format of an integer.
  const { type: _type, format: _format, properties, items, ...others } = schema;
  const keywords = Object.entries(others).filter(([keyword]) => !ANNOTATIONS.includes(keyword));
  const convert = (child: ResolvedSchema, name: string) => validatorSchema(child, `${place}.${name}`, level + 1);
  return {
    ...type.base,
    ...Object.fromEntries(keywords),
    ...(properties && { properties: mapValues(properties, convert) }),
    ...(items && { items: convert(items, '*') }),
  };
}

function unsupportedKeyword(schema: object, supported: string[]): string | undefined {
  return Object.keys(schema).find((keyword) => !['type', ...ANNOTATIONS, ...supported].includes(keyword));
}

function supportedType(schema: ResolvedSchema, place: string) {
  const name = valueType(schema);
  const type = TYPES[name];
  if (type) return type;
  const names = Object.keys(TYPES).map((each) => (each.startsWith('int') ? `integer (format: ${each})` : each));
  throw new Error(`${place} is of type ${name}; it must be one of ${names.join(', ')}.`);
}

/** Converts a resolved schema to the type that the functions use. Throws if its type is not supported. */
export function toShape(schema: ResolvedSchema, place: string): Shape {
  const { items = {}, properties = {} } = schema;
  supportedType(schema, place);
  const type = valueType(schema);
  if (type === 'array') return [toShape(items, `${place}.*`)];
  if (type !== 'object') return type as Scalar;
  return mapValues(properties, (member, name) => toShape(member, `${place}.${name}`));
}

/** Converts a resolved schema to a TypeScript type. */
export function toTypeScript(schema: ResolvedSchema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const type = valueType(schema);
  if (type === 'array') return `(${toTypeScript(schema.items ?? {})})[]`;
  if (type !== 'object') return { int64: 'bigint', int32: 'number', undefined: 'unknown' }[type] ?? type;
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const optional = schema.required?.includes(name) ? '' : '?';
    return `${JSON.stringify(name)}${optional}: ${toTypeScript(member)}`;
  });
  return `{ ${members.join('; ')} }`;
}
