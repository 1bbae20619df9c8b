import { Script } from 'node:vm';
import { RE2JS } from 're2js';
import { parse } from 'yaml';

/** A mistake in the contract. The message says what to correct. */
export class ContractError extends Error {
  constructor(reason: string) {
    super(`${reason} Correct openapi.yaml; see "A new member" in CONTRIBUTING.md.`);
  }
}

/** A member of NewPlant. `constraints` are keywords of JSON Schema with their values. */
export interface Member {
  name: string;
  type: keyof typeof CONSTRAINTS;
  isRequired: boolean;
  constraints: Record<string, unknown>;
}

/** A check of a keyword's value, and what the value must be. The check also gets the other keywords of the member. */
type Check = [isRight: (value: unknown, schema: Record<string, number>) => boolean, expected: string];

export const [MIN_INT32, MAX_INT32] = [-(2 ** 31), 2 ** 31 - 1];
const isInt32 = (value: unknown) => Number.isInteger(value) && Number(value) >= MIN_INT32 && Number(value) <= MAX_INT32;
const isText = (value: unknown): value is string => typeof value === 'string';
const listOf = (isRight: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every(isRight) && new Set(value).size === value.length;

const BOUND: Check = [
  (value, { minimum = MIN_INT32, maximum = MAX_INT32 }) => isInt32(value) && minimum <= maximum,
  `a whole number from ${MIN_INT32} to ${MAX_INT32}, and the minimum not above the maximum`,
];
const LENGTH: Check = [
  (value, { minLength = 0, maxLength = Infinity }) => isInt32(value) && Number(value) >= 0 && minLength <= maxLength,
  'a whole number of at least 0, and minLength not above maxLength',
];
// The time of RE2 grows with the text.
const PATTERN: Check = [
  (value, { maxLength = Infinity }) => isText(value) && maxLength <= 1000,
  'a string, beside a maxLength of at most 1000',
];

/** The keywords that can constrain a member of each type. */
const CONSTRAINTS: Record<'int64' | 'int32' | 'string' | 'boolean', Record<string, Check>> = {
  int64: {},
  int32: { minimum: BOUND, maximum: BOUND, enum: [listOf(isInt32), 'a list of different whole numbers'] },
  string: {
    minLength: LENGTH,
    maxLength: LENGTH,
    pattern: PATTERN,
    enum: [listOf(isText), 'a list of different strings'],
  },
  boolean: {},
};
/** The keywords that only describe. */
const ANNOTATIONS = ['title', 'description', 'example', 'examples', 'deprecated'];

/** The types by their keywords `type` and `format`. */
const TYPES = new Map<string, Member['type']>([
  ['integer int64', 'int64'],
  ['integer int32', 'int32'],
  ['string', 'string'],
  ['boolean', 'boolean'],
]);
const MEMBER_TYPES = 'a string, an int32 (type: integer, format: int32) or a boolean, without another format';
const ID_TYPE = 'a required int64 (type: integer, format: int64), which only NewPlant has';
const NAME = 'letters, digits and "_" after a letter, and no word of JavaScript, createdAt or createdBy';

interface Collected {
  /** The schemas of the members by their names. */
  members: Map<string, unknown>;
  required: Set<string>;
}

/**
 * Reads the members of NewPlant, in their order in the contract. All but the id are also those of Plant.
 *
 * @throws a ContractError that names what cannot be generated, what it was and what it must be
 */
export function readMembers(contract: string): Member[] {
  const { NewPlant, ...others } = Object(Object(parseYaml(contract)).components?.schemas);
  if (!NewPlant) fail('The schema NewPlant was missing', 'in components.schemas');
  const targets = Object.entries(others).map(([name, schema]) => [`#/components/schemas/${name}`, schema] as const);
  const sent = collect('NewPlant', NewPlant, new Map(targets));
  const returned = collect('Plant', { $ref: '#/components/schemas/Plant' }, new Map(targets));
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
  throw new ContractError(`${subject}; it must be ${expected}.`);
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (thrown) {
    throw new ContractError((thrown as Error).message);
  }
}

/** Collects the members and the required names of a schema of an object, and of the parts of its `allOf`. */
function collect(name: string, schema: unknown, schemas: Map<unknown, unknown>): Collected {
  requireObject(`A part of the schema ${name}`, schema);
  const { $ref, type = 'object', required = [], properties = {}, allOf = [], ...others } = schema;
  if ($ref !== undefined) {
    if (Object.keys(schema).length > 1) fail(`The $ref in ${name} had another keyword beside it`, 'alone');
    const expected = '"#/components/schemas/" with the name of another schema';
    if (!schemas.has($ref)) fail(`The $ref in ${name} was ${JSON.stringify($ref)}`, expected);
    // The rest is without the target, so that a schema that refers to itself ends with the sentence too.
    return collect(name, schemas.get($ref), new Map([...schemas].filter(([ref]) => ref !== $ref)));
  }
  requireKeywords(`The schema ${name}`, others, ['type', 'required', 'properties', 'allOf']);
  if (type !== 'object') fail(`The type of the schema ${name} was ${JSON.stringify(type)}`, '"object"');
  if (!Array.isArray(required) || !Array.isArray(allOf)) fail(`The required or allOf of ${name} was no list`, 'a list');
  requireObject(`The properties of ${name}`, properties);
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
  const type = TYPES.get(`${jsonType} ${format}`.trim());
  if (!type || (type === 'int64') !== (name === 'id'))
    fail(`The member ${name} was ${JSON.stringify(schema)}`, name === 'id' ? ID_TYPE : MEMBER_TYPES);
  const checks = CONSTRAINTS[type];
  requireKeywords(`The member ${name}`, keywords, Object.keys(checks));
  const constraints = Object.fromEntries(Object.entries(keywords).filter(([keyword]) => keyword in checks));
  for (const [keyword, [isRight, expected]] of Object.entries(checks)) {
    const value = constraints[keyword];
    if (value !== undefined && !isRight(value, keywords))
      fail(`The ${keyword} of the member ${name} was ${JSON.stringify(value)}`, expected);
  }
  if ('enum' in constraints && Object.keys(constraints).length > 1)
    fail(`The enum of the member ${name} had another constraint beside it`, 'the only one');
  if (isText(constraints['pattern'])) requireRegExp(name, constraints['pattern']);
  return { name, type, isRequired, constraints };
}

/** The item has `createdAt` and `createdBy` beside the members. */
function isAllowedName(name: string): boolean {
  if (!/^[a-z]\w*$/i.test(name) || name in Object.prototype || /^created(At|By)$/.test(name)) return false;
  try {
    // A reserved word, such as `class`, is a syntax error here.
    new Script(`'use strict'; let ${name};`);
    return true;
  } catch {
    return false;
  }
}

/** The function runs a pattern on RE2, and a client that reads the contract on the engine of JavaScript. */
function requireRegExp(name: string, pattern: string): void {
  try {
    new RegExp(pattern, 'u');
    RE2JS.compile(pattern);
  } catch (thrown) {
    const subject = `The pattern of the member ${name} was ${JSON.stringify(pattern)} (${(thrown as Error).message})`;
    fail(subject, 'a regular expression of JavaScript with the flag u, and of RE2');
  }
}

function requireObject(subject: string, value: unknown): asserts value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    fail(`${subject} was ${JSON.stringify(value)}`, 'an object');
}

function requireKeywords(subject: string, keywords: object, allowed: string[]): void {
  const all = [...allowed, ...ANNOTATIONS];
  const other = Object.keys(keywords).find((keyword) => !all.includes(keyword));
  if (other !== undefined) fail(`${subject} had the keyword "${other}"`, `one of ${all.join(', ')}`);
}
