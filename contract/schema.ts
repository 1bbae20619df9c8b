/** Returns a record with the same keys and other values. */
export function mapValues<From, To>(record: Record<string, From>, to: (value: From, key: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
}

/** A schema of the contract, as far as it is read. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  [keyword: string]: unknown;
}

/** A schema's type; of integers the format, which is int64 where there is none. */
export function kindOf({ type, format }: Schema): string {
  if (type === 'integer') return format ?? 'int64';
  return String(type);
}

/** A schema, and each schema in it, without references (`#/components/schemas/NAME`) and `allOf`. */
export function resolved(schema: Schema, schemas: Record<string, Schema>, within: string[] = []): Schema {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = schemas[name];
    if (!target) throw new Error(`"${schema.$ref}" refers to nothing; it must be "#/components/schemas/NAME".`);
    if (within.includes(name)) throw new Error(`The schema ${name} contains itself; it must not.`);
    return resolved(target, schemas, [...within, name]);
  }
  const { allOf = [], ...own } = schema;
  if (own.properties) own.properties = mapValues(own.properties, (each) => resolved(each, schemas, within));
  if (own.items) own.items = resolved(own.items, schemas, within);
  if (own.oneOf) own.oneOf = own.oneOf.map((each) => resolved(each, schemas, within));
  if (own.anyOf) own.anyOf = own.anyOf.map((each) => resolved(each, schemas, within));
  if (allOf.length === 0) return own;
  const parts = [...allOf.map((part) => resolved(part, schemas, within)), own];
  return {
    ...own,
    type: 'object',
    required: parts.flatMap(({ required = [] }) => required),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
  };
}

const ANNOTATIONS = ['type', 'description', 'title', 'example', 'examples', 'deprecated'];
const BOUNDS = ['format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
/** By kind, the keywords that are checked, and what besides is checked of every value. */
const KINDS: Record<string, { keywords: string[]; checks: Schema }> = {
  object: { keywords: ['properties', 'required'], checks: { type: 'object' } },
  array: { keywords: ['items', 'minItems', 'maxItems'], checks: { type: 'array' } },
  string: { keywords: ['minLength', 'maxLength', 'pattern', 'enum'], checks: { type: 'string', wellFormed: true } },
  number: { keywords: BOUNDS, checks: { type: 'number', storable: true } },
  int32: { keywords: BOUNDS, checks: { type: 'integer', int32: true } },
  int64: { keywords: ['format'], checks: { int64: true } },
  boolean: { keywords: [], checks: { type: 'boolean' } },
};

/**
 * What the validator is compiled from: of a resolved schema, each int64 as a bigint, each string well-formed, each
 * number one that the database can hold. Throws a sentence, which names the `place`, for what would not be checked.
 */
export function validated(schema: Schema, place: string): Schema {
  const kind = KINDS[kindOf(schema)];
  if (!kind)
    throw new Error(`${place} is of type ${kindOf(schema)}; it must be one of ${Object.keys(KINDS).join(', ')}.`);
  const { properties, items, format: _, ...keywords } = schema;
  for (const keyword of Object.keys(schema)) {
    if ([...ANNOTATIONS, ...kind.keywords].includes(keyword)) continue;
    throw new Error(
      `${place} has ${keyword}; of its type only these are checked: ${kind.keywords.join(', ') || 'none'}.`,
    );
  }
  for (const annotation of ANNOTATIONS) delete keywords[annotation];
  return {
    ...kind.checks,
    ...keywords,
    ...(properties && { properties: mapValues(properties, (each, name) => validated(each, `${place}.${name}`)) }),
    ...(items && { items: validated(items, `${place}.*`) }),
  };
}

/** What the validator of a response is compiled from: a resolved schema, in which no object has other members. */
export function closed({ properties, items, ...schema }: Schema): Schema {
  return {
    ...schema,
    ...(properties && { properties: mapValues(properties, closed), additionalProperties: false }),
    ...(items && { items: closed(items) }),
  };
}

/** Where a resolved schema has an int64: the names that lead to each, `*` for the items of an array. */
export function int64Paths(schema: Schema): string[][] {
  if (kindOf(schema) === 'int64') return [[]];
  const members = Object.entries({ ...schema.properties, ...(schema.items && { '*': schema.items }) });
  return members.flatMap(([name, member]) => int64Paths(member).map((path) => [name, ...path]));
}

/** The TypeScript type of what a resolved schema allows. */
export function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const kind = kindOf(schema);
  if (kind === 'array') return `(${typeOf(schema.items ?? {})})[]`;
  if (kind !== 'object') return { int64: 'bigint', int32: 'number', undefined: 'unknown' }[kind] ?? kind;
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const optional = schema.required?.includes(name) ? '' : '?';
    return `${JSON.stringify(name)}${optional}: ${typeOf(member)}`;
  });
  return `{ ${members.join('; ')} }`;
}
