import { Script } from 'node:vm';
import { parse } from 'yaml';

/** A member of NewPlant. `constraints` are keywords of JSON Schema with their values. */
export interface Member {
  name: string;
  type: keyof typeof CONSTRAINTS;
  isRequired: boolean;
  constraints: Record<string, unknown>;
}

/** The keywords that can constrain a member of each type. */
const CONSTRAINTS = {
  int64: [],
  int32: ['minimum', 'maximum', 'enum'],
  string: ['minLength', 'maxLength', 'pattern', 'enum'],
  boolean: [],
};
/** The keywords that only describe. */
const ANNOTATIONS = ['title', 'description', 'example', 'examples', 'deprecated'];

/** The types by their keywords `type` and `format`. */
const TYPES: Record<string, Member['type']> = {
  'integer int64': 'int64',
  'integer int32': 'int32',
  string: 'string',
  boolean: 'boolean',
};
const MEMBER_TYPES = 'a string, an int32 (type: integer, format: int32) or a boolean, without another format';
const ID_TYPE = 'a required int64 (type: integer, format: int64), which only NewPlant has';

const NAME = 'letters, digits and "_" after a letter, and no word of JavaScript, createdAt or createdBy';

const [MIN_INT32, MAX_INT32] = [-(2 ** 31), 2 ** 31 - 1];
/** In characters. A pattern can take seconds for a longer text. */
const MAX_PATTERN_TEXT = 200;

interface Collected {
  /** The schemas of the members by their names. */
  members: Map<string, unknown>;
  required: Set<string>;
}

/**
 * Reads the members of NewPlant, in their order in the contract. All but the id are also those of Plant.
 *
 * @param contract the text of openapi.yaml
 * @throws an Error that names what cannot be generated, what it was and what it must be
 */
export function readMembers(contract: string): Member[] {
  const { NewPlant, ...schemas } = Object(Object(parse(contract)).components?.schemas);
  const sent = collect('NewPlant', NewPlant, schemas);
  const returned = collect('Plant', { $ref: '#/components/schemas/Plant' }, schemas);
  for (const name of new Set(['id', ...sent.required, ...sent.members.keys(), ...returned.members.keys()])) {
    const [inNewPlant, inPlant] = [sent, returned].map(({ members }) => JSON.stringify(members.get(name)));
    const isRequired = sent.required.has(name);
    if (!inNewPlant) fail(`The member ${name} was missing`, 'in the properties of NewPlant');
    if (name === 'id' && (inPlant || !isRequired)) fail('The member id was not required, or in Plant', ID_TYPE);
    if (name !== 'id' && inPlant !== inNewPlant)
      fail(`The member ${name} was ${inNewPlant} in NewPlant and ${inPlant} in Plant`, 'the same in both');
    if (returned.required.has(name) && !isRequired)
      fail(`The member ${name} was required only in Plant`, 'required in NewPlant too');
  }
  return [...sent.members].map(([name, schema]) => readMember(name, schema, sent.required.has(name)));
}

function fail(subject: string, expected: string): never {
  throw new Error(`${subject}; it must be ${expected}.`);
}

/** Collects the members and the required names of a schema of an object, and of the parts of its `allOf`. */
function collect(name: string, schema: unknown, schemas: Record<string, unknown>): Collected {
  const { $ref, type = 'object', required = [], properties = {}, allOf = [], ...others } = Object(schema);
  if ($ref !== undefined) {
    if (Object.keys(Object(schema)).length > 1) fail(`The $ref in ${name} had another keyword beside it`, 'alone');
    const { [String($ref).replace('#/components/schemas/', '')]: target, ...rest } = schemas;
    if (!target) fail(`The $ref in ${name} was "${$ref}"`, '"#/components/schemas/" with the name of another schema');
    return collect(name, target, rest);
  }
  requireKeywords(`The schema ${name}`, others, ['type', 'required', 'properties', 'allOf']);
  if (type !== 'object') fail(`The type of the schema ${name} was ${JSON.stringify(type)}`, '"object"');
  if (![required, allOf].every(Array.isArray)) fail(`One of required and allOf in ${name} was no list`, 'a list');
  const parts = [
    { members: Object.entries(properties), required },
    ...allOf.map((part: unknown) => collect(name, part, schemas)),
  ];
  const members = new Map<string, unknown>();
  for (const [member, value] of parts.flatMap((part) => [...part.members])) {
    if (members.has(member)) fail(`The member ${member} was in two parts of ${name}`, 'in one');
    members.set(member, value);
  }
  return { members, required: new Set(parts.flatMap((part) => [...part.required])) };
}

function readMember(name: string, schema: unknown, isRequired: boolean): Member {
  if (!isAllowedName(name)) fail(`The name of the member "${name}" was not allowed`, NAME);
  const { type: jsonType, format = '', ...keywords } = Object(schema);
  const type = TYPES[`${jsonType} ${format}`.trim()];
  if (!type || (type === 'int64') !== (name === 'id'))
    fail(`The member ${name} was ${JSON.stringify(schema)}`, name === 'id' ? ID_TYPE : MEMBER_TYPES);
  requireKeywords(`The member ${name}`, keywords, CONSTRAINTS[type]);
  const entries = Object.entries(keywords).filter(([keyword]) => !ANNOTATIONS.includes(keyword));
  const constraints = Object.fromEntries(entries);
  requireValues(name, type, constraints);
  return { name, type, isRequired, constraints };
}

/** The item has `createdAt` and `createdBy` beside the members. */
function isAllowedName(name: string): boolean {
  if (!/^[a-z]\w*$/i.test(name) || name in Object.prototype || /^created(At|By)$/.test(name)) return false;
  try {
    // A reserved word, such as `class`, is a syntax error here.
    return Boolean(new Script(`'use strict'; let ${name};`));
  } catch {
    return false;
  }
}

function requireKeywords(subject: string, keywords: object, allowed: string[]): void {
  const all = [...allowed, ...ANNOTATIONS];
  const other = Object.keys(keywords).find((keyword) => !all.includes(keyword));
  if (other !== undefined) fail(`${subject} had the keyword "${other}"`, `one of ${all.join(', ')}`);
}

function requireValues(name: string, type: Member['type'], constraints: Member['constraints']): void {
  const check = (keyword: string, isRight: (value: unknown) => boolean, expected: string) => {
    const value = constraints[keyword];
    if (value !== undefined && !isRight(value))
      fail(`The ${keyword} of the member ${name} was ${JSON.stringify(value)}`, expected);
  };
  const { maxLength = Infinity, maximum = MAX_INT32, pattern } = constraints;
  const isWhole = (min: number, max: unknown) => (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= Number(max);
  const isText = (value: unknown) => typeof value === 'string';
  const isValue = type === 'string' ? isText : isWhole(MIN_INT32, MAX_INT32);
  check('maxLength', isWhole(0, Infinity), 'a whole number of at least 0');
  check('minLength', isWhole(0, maxLength), 'a whole number from 0 to the maxLength');
  check('maximum', isWhole(MIN_INT32, MAX_INT32), `a whole number from ${MIN_INT32} to ${MAX_INT32}`);
  check('minimum', isWhole(MIN_INT32, maximum), `a whole number from ${MIN_INT32} to the maximum`);
  check('enum', (values) => Array.isArray(values) && values.length > 0 && values.every(isValue), `a list of ${type}s`);
  check('pattern', isRegExp, 'a regular expression of JavaScript, with the flag u');
  if (pattern !== undefined && !isWhole(0, MAX_PATTERN_TEXT)(maxLength))
    fail(`The maxLength of the member ${name} was ${maxLength}`, `at most ${MAX_PATTERN_TEXT}, because of the pattern`);
}

function isRegExp(pattern: unknown): boolean {
  try {
    return typeof pattern === 'string' && Boolean(new RegExp(pattern, 'u'));
  } catch {
    return false;
  }
}
