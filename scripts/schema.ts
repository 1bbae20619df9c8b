/** A schema of the contract, as far as requests are checked by it. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  [keyword: string]: unknown;
}

/** By the names that `#/components/schemas/NAME` refers to. */
export type Schemas = Record<string, Schema>;

interface Kind {
  /** The keywords that are checked. Any other is refused, not skipped in silence. */
  keywords: string[];
  /** What besides is checked of every value. */
  checks: object;
}

const ANNOTATIONS = ['type', 'format', 'description', 'title', 'example', 'examples', 'deprecated'];
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const KINDS: Record<string, Kind> = {
  object: { keywords: ['properties', 'required'], checks: { type: 'object' } },
  array: { keywords: ['items', 'minItems', 'maxItems'], checks: { type: 'array' } },
  string: { keywords: ['minLength', 'maxLength', 'pattern', 'enum'], checks: { type: 'string', wellFormed: true } },
  number: { keywords: BOUNDS, checks: { type: 'number', storable: true } },
  int32: { keywords: BOUNDS, checks: { type: 'integer', int32: true } },
  int64: { keywords: [], checks: { int64: true } },
  boolean: { keywords: [], checks: { type: 'boolean' } },
};

/** A schema's type; of integers int32 or int64, which one without a format is too. */
export function kindOf({ type, format }: Schema): string {
  if (type === 'integer') return format === 'int32' ? 'int32' : 'int64';
  return String(type);
}

function referred($ref: string, schemas: Schemas): [name: string, schema: Schema] {
  const name = $ref.replace('#/components/schemas/', '');
  const schema = schemas[name];
  if (!schema) throw new Error(`"${$ref}" refers to nothing; it must be "#/components/schemas/NAME".`);
  return [name, schema];
}

/**
 * The schema that the validator is compiled from: references and `allOf` resolved, each int64 a bigint,
 * each string well-formed, each number one that the database can hold. `place` names it in an error.
 */
export function requestSchema(schema: Schema, place: string, schemas: Schemas, within: string[] = []): Schema {
  if (schema.$ref !== undefined) {
    const [name, target] = referred(schema.$ref, schemas);
    if (within.includes(name)) throw new Error(`${place} contains itself; a request's schema must not.`);
    return requestSchema(target, name, schemas, [...within, name]);
  }
  if (schema.allOf) {
    const { allOf, ...own } = schema;
    const parts = allOf.map((part) => requestSchema(part, place, schemas, within));
    const whole = requestSchema({ type: 'object', ...own }, place, schemas, within);
    if (parts.some(({ type }) => type !== 'object'))
      throw new Error(`${place} has allOf; each part must be an object.`);
    return {
      type: 'object',
      required: [...parts, whole].flatMap(({ required = [] }) => required),
      properties: Object.assign({}, ...[...parts, whole].map(({ properties }) => properties)),
    };
  }
  const kind = KINDS[kindOf(schema)];
  if (!kind)
    throw new Error(`${place} has the type ${schema.type}; it must be one of ${Object.keys(KINDS).join(', ')}.`);
  const keywords = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.includes(keyword));
  for (const [keyword] of keywords) {
    if (!kind.keywords.includes(keyword)) {
      throw new Error(
        `${place} has ${keyword}; of this type only ${kind.keywords.join(', ') || 'itself'} can be checked.`,
      );
    }
  }
  const inner = (member: Schema, name: string) => requestSchema(member, `${place}.${name}`, schemas, within);
  const properties = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, inner(member, name)]);
  return {
    ...kind.checks,
    ...Object.fromEntries(keywords),
    ...(schema.properties && { properties: Object.fromEntries(properties) }),
    ...(schema.items && { items: inner(schema.items, '*') }),
  };
}

/** Where a request's schema has an int64: the names that lead to each, `*` for the items of an array. */
export function int64Paths({ int64, items, properties = {} }: Schema): string[][] {
  if (int64) return [[]];
  const members = Object.entries({ ...properties, ...(items && { '*': items }) });
  return members.flatMap(([name, member]) => int64Paths(member).map((path) => [name, ...path]));
}

/** The names of an object's members, those that it has by `allOf` too. */
export function membersOf(schema: Schema, schemas: Schemas): string[] {
  if (schema.$ref !== undefined) return membersOf(referred(schema.$ref, schemas)[1], schemas);
  return [...(schema.allOf ?? []).flatMap((part) => membersOf(part, schemas)), ...Object.keys(schema.properties ?? {})];
}

/** The TypeScript type of what a schema allows. */
export function typeOf(schema: Schema, schemas: Schemas): string {
  const { $ref, allOf, enum: values, items = {}, properties = {}, required = [] } = schema;
  if ($ref !== undefined) return referred($ref, schemas)[0];
  const parts = (allOf ?? []).map((part) => typeOf(part, schemas));
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  switch (kindOf(schema)) {
    case 'int64':
      return 'bigint';
    case 'int32':
      return 'number';
    case 'array':
      return `(${typeOf(items, schemas)})[]`;
    case 'string':
    case 'number':
    case 'boolean':
      return String(schema.type);
  }
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member, schemas)}`,
  );
  if (members.length > 0 || parts.length === 0) parts.unshift(`{ ${members.join('; ')} }`);
  return parts.join(' & ');
}
