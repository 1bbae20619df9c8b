import type { ErrorObject } from 'ajv';
import { NumberText } from '../json/exact-numbers.ts';
import type { SentParts } from './middleware.ts';
import { truncate } from './truncate.ts';

/** The members of a compiled schema that the messages use. */
interface CompiledSchema {
  type?: string;
  int64?: true;
  int32?: true;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, CompiledSchema>;
}

/** An error of an Ajv validator with the option `verbose`. */
export type ValidationError = ErrorObject & { parentSchema: CompiledSchema };

/**
 * Describes why Middy's parser rejected a body.
 *
 * @param data the member that would change a prototype, if there is no reason
 * @param reason the message of `JSON.parse`
 */
export function parserMessage(data: unknown, reason?: string): string {
  if (reason !== undefined) return `The body was not JSON (${reason}); it must be a JSON object.`;
  return `The body has the member "${data === 'constructor' ? 'constructor.prototype' : data}", which is not allowed.`;
}

/**
 * Describes each wrong member or parameter, as in "The member id was a string; it must be a whole number from …".
 *
 * @param sent the parts of the event, to quote numbers as they were sent
 */
export function validationMessage(errors: ValidationError[], sent: SentParts): string {
  // A value of the wrong type can fail several keywords, each with the same sentence.
  return [...new Set(errors.map((error) => describeError(error, sent)))].join(' ');
}

/** The keywords that fail for a value of the wrong type, or one that cannot be stored. */
const TYPE_KEYWORDS = ['type', 'int64', 'int32', 'storable', 'wellFormed'];

function describeError(error: ValidationError, sent: SentParts): string {
  const { keyword, instancePath, params, parentSchema, data, message } = error;
  const path = namesIn(instancePath);
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return `The ${nameOf([...path, missing])} is missing; it must be ${requirement(parentSchema.properties?.[missing])}.`;
  }
  const name = nameOf(path);
  const isParameter = name.startsWith('parameter');
  const sentValue = path.reduce<unknown>((value, key) => Object(value)[key], sent) ?? data;
  const actual = isParameter ? `"${truncate(String(sentValue))}"` : describeValue(sentValue);
  if (keyword === 'enum') return `The ${name} must be one of ${params['allowedValues'].join(', ')}.`;
  if (!TYPE_KEYWORDS.includes(keyword)) {
    return isParameter || typeof data === 'number'
      ? `The ${name} was ${actual}; it ${message}.`
      : `The ${name} ${message}.`;
  }
  const digits = needsPlainDigits(data) ? ', in plain digits if it is beyond 2^53' : '';
  return `The ${name} was ${actual}; it must be ${requirement(parentSchema)}${digits}.`;
}

/** Returns the names in a path of the event, which is a JSON Pointer (RFC 6901). */
function namesIn(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the client's term for a path in the event: `member name` for the names `body` and `name`. */
function nameOf([part, ...names]: string[]): string {
  if (names.length === 0) return String(part);
  return `${part === 'body' ? 'member' : 'parameter'} ${names.join('/')}`;
}

const REQUIREMENTS: Record<string, string> = {
  string: 'a string of well-formed Unicode',
  // What DynamoDB can store (the keyword `storable` in tools/generate/generate.ts).
  number: 'a number: 0, or one with a magnitude of at least 1e-130 and less than 1e126',
  boolean: 'true or false',
  array: 'an array',
};

function requirement({ type = 'object', int64, int32, minimum, maximum }: CompiledSchema = {}): string {
  if (int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (int32) return `a whole number from ${minimum ?? -(2 ** 31)} to ${maximum ?? 2 ** 31 - 1}`;
  return REQUIREMENTS[type] ?? 'a JSON object';
}

function describeValue(value: unknown): string {
  if (value instanceof NumberText) return truncate(value.source);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value.isWellFormed() ? 'a string' : 'a string with a lone surrogate';
  return typeof value === 'object' ? 'an object' : String(value);
}

/** Returns true for an int64 that is no bigint because it is beyond 2^53, where only plain digits are exact. */
function needsPlainDigits(value: unknown): boolean {
  const magnitude = value instanceof NumberText ? Math.abs(Number(value.source)) : 0;
  return magnitude >= 2 ** 53 && magnitude <= 2 ** 63;
}
