import type { ErrorObject } from 'ajv';
import { InexactNumber } from './exact-numbers.ts';

/** A part of the compiled schema, as far as a message depends on it. */
interface Schema {
  type?: string;
  int64?: true;
  int32?: true;
  minimum?: number;
  maximum?: number;
  /** Only an object has them. */
  properties: Record<string, Schema>;
}

/** An error of a validator that was compiled with `verbose`. */
export type ValidationError = ErrorObject & { parentSchema: Schema };

/** A sentence for each member or parameter that is wrong, with what it was and what it must be. */
export function validationMessage(errors: ValidationError[]): string {
  // A value of another type may break several keywords at once.
  return [...new Set(errors.map(sentence))].join(' ');
}

/** The keywords that a value of another type breaks. */
const TYPE_KEYWORDS = ['type', 'int64', 'int32', 'storable', 'wellFormed'];

function sentence({ keyword, instancePath, params, parentSchema, data, message }: ValidationError): string {
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return `The ${nameOf(`${instancePath}/${missing}`)} is missing; it must be ${requirement(parentSchema.properties[missing])}.`;
  }
  const name = nameOf(instancePath);
  if (!TYPE_KEYWORDS.includes(keyword)) return `The ${name} ${message}.`;
  const was = name.startsWith('parameter') ? `"${shortened(String(data))}"` : description(data);
  const digits = needsPlainDigits(data) ? ', beyond 2^53 in plain digits' : '';
  return `The ${name} was ${was}; it must be ${requirement(parentSchema)}${digits}.`;
}

/** What a client calls a place of the event, as in "member name" for `/body/name`. */
function nameOf(path: string): string {
  const [, part, ...names] = path.split('/');
  if (names.length === 0) return String(part);
  return `${part === 'body' ? 'member' : 'parameter'} ${names.join('/')}`;
}

const REQUIREMENTS: Record<string, string> = {
  string: 'a string of well-formed Unicode',
  number: 'a number, in size at most 9.9e125 and, unless it is 0, at least 1e-130',
  boolean: 'true or false',
  array: 'a list',
};

function requirement({ type = 'object', int64, int32, minimum, maximum }: Partial<Schema> = {}): string {
  if (int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (int32) return `a whole number from ${minimum ?? -(2 ** 31)} to ${maximum ?? 2 ** 31 - 1}`;
  return REQUIREMENTS[type] ?? 'a JSON object';
}

/** Maximum length of a client's text that an error message quotes. */
const MAX_SHOWN = 40;

export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function description(value: unknown): string {
  if (value instanceof InexactNumber) return shortened(value.source);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value.isWellFormed() ? 'a string' : 'a string with a lone surrogate';
  return typeof value === 'object' ? 'an object' : String(value);
}

/** Tells whether a number is beyond 2^53, where only plain digits are exact, and within int64. */
function needsPlainDigits(value: unknown): boolean {
  const size = value instanceof InexactNumber ? Math.abs(Number(value.source)) : 0;
  return size >= 2 ** 53 && size <= 2 ** 63;
}
