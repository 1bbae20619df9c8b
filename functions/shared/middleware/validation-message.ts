import type { ErrorObject } from 'ajv';
import { UnconvertedNumber } from '../exact-numbers.ts';

/** The members of a compiled schema that the messages use. */
interface Schema {
  type?: string;
  int64?: true;
  int32?: true;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
}

/** An error of an Ajv validator with the option `verbose`. */
export type ValidationError = ErrorObject & { parentSchema: Schema };

/** Describes each wrong member or parameter, as in "The member id was a string; it must be a whole number from …". */
export function validationMessage(errors: ValidationError[]): string {
  // A value of the wrong type can fail several keywords, each with the same sentence.
  return [...new Set(errors.map(describeError))].join(' ');
}

/** The keywords that fail for a value of the wrong type, or one that cannot be stored. */
const TYPE_KEYWORDS = ['type', 'int64', 'int32', 'storable', 'wellFormed'];

function describeError({ keyword, instancePath, params, parentSchema, data, message }: ValidationError): string {
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return `The ${nameOf(instancePath, missing)} is missing; it must be ${requirement(parentSchema.properties?.[missing])}.`;
  }
  const name = nameOf(instancePath);
  const isParameter = name.startsWith('parameter');
  const actual = isParameter ? `"${truncate(String(data))}"` : describeValue(data);
  if (keyword === 'enum') return `The ${name} must be one of ${params['allowedValues'].join(', ')}.`;
  if (!TYPE_KEYWORDS.includes(keyword)) {
    return isParameter || typeof data === 'number'
      ? `The ${name} was ${actual}; it ${message}.`
      : `The ${name} ${message}.`;
  }
  const digits = needsPlainDigits(data) ? ', in plain digits if it is beyond 2^53' : '';
  return `The ${name} was ${actual}; it must be ${requirement(parentSchema)}${digits}.`;
}

/** Converts a path in the event (a JSON Pointer, RFC 6901) to the client's term: `/body/name` to "member name". */
function nameOf(path: string, ...missing: string[]): string {
  const pathNames = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const [, part, ...names] = [...pathNames, ...missing];
  if (names.length === 0) return String(part);
  return `${part === 'body' ? 'member' : 'parameter'} ${names.join('/')}`;
}

const REQUIREMENTS: Record<string, string> = {
  string: 'a string of well-formed Unicode',
  // What DynamoDB can store (the keyword `storable` in tools/generate/generate.ts).
  number: 'a number: 0, or one with a magnitude from 1e-130 to 9.9e125',
  boolean: 'true or false',
  array: 'an array',
};

function requirement({ type = 'object', int64, int32, minimum, maximum }: Schema = {}): string {
  if (int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (int32) return `a whole number from ${minimum ?? -(2 ** 31)} to ${maximum ?? 2 ** 31 - 1}`;
  return REQUIREMENTS[type] ?? 'a JSON object';
}

/** Maximum length of a client's text in an error message, in characters. */
const MAX_QUOTE_LENGTH = 40;

/** Shortens a client's text. Replaces half of a surrogate pair, which `JSON.stringify` would escape. */
export function truncate(text: string): string {
  return text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…` : text;
}

function describeValue(value: unknown): string {
  if (value instanceof UnconvertedNumber) return truncate(value.source);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value.isWellFormed() ? 'a string' : 'a string with a lone surrogate';
  return typeof value === 'object' ? 'an object' : String(value);
}

/** Returns true for an UnconvertedNumber that is within int64 and beyond 2^53, where only plain digits are exact. */
function needsPlainDigits(value: unknown): boolean {
  const magnitude = value instanceof UnconvertedNumber ? Math.abs(Number(value.source)) : 0;
  return magnitude >= 2 ** 53 && magnitude <= 2 ** 63;
}
