import type { ErrorObject } from 'ajv';
import { InexactNumber } from './exact-numbers.ts';

/** A part of the compiled schema, as far as a message depends on it. */
interface Schema {
  type?: string;
  int64?: true;
  int32?: true;
  minimum?: number;
  maximum?: number;
  /** An object's; the others have none. */
  properties: Record<string, Schema>;
}

/** An error of a validator that was compiled with `verbose`. */
export type ValidationError = ErrorObject & { parentSchema: Schema };

/** A sentence for each member or parameter that is wrong, with what it was and what it must be. */
export function validationMessage(errors: ValidationError[]): string {
  // A value of another type may break several keywords at once.
  return [...new Set(errors.map(fault))].join(' ');
}

/** The keywords by which a value is of another type than it must be. */
const TYPE_KEYWORDS = ['type', 'int64', 'int32', 'storable', 'wellFormed'];

function fault({ keyword, instancePath, params, parentSchema, data, message }: ValidationError): string {
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return `The ${nameOf(`${instancePath}/${missing}`)} is missing; it must be ${requirement(parentSchema.properties[missing])}.`;
  }
  const name = nameOf(instancePath);
  if (!TYPE_KEYWORDS.includes(keyword)) return `The ${name} ${message}.`;
  const digits = data instanceof InexactNumber && data.needsPlainDigits ? ', beyond 2^53 in plain digits' : '';
  const was = name.startsWith('parameter') ? `"${shortened(String(data))}"` : description(data);
  return `The ${name} was ${was}; it must be ${requirement(parentSchema)}${digits}.`;
}

/** What a caller calls a place of the event, as in "member name" for `/body/name`. */
function nameOf(path: string): string {
  const [, part, ...names] = path.split('/');
  if (names.length === 0) return String(part);
  return `${part === 'body' ? 'member' : 'parameter'} ${names.join('/')}`;
}

function requirement({ type, int64, int32, minimum, maximum }: Omit<Schema, 'properties'> = {}): string {
  if (int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (int32) return `a whole number from ${minimum ?? -(2 ** 31)} to ${maximum ?? 2 ** 31 - 1}`;
  switch (type) {
    case 'string':
      return 'a string of well-formed Unicode';
    case 'number':
      return 'a number, in size at most 9.9e125 and, unless it is 0, at least 1e-130';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
  }
  return 'a JSON object';
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
  if (typeof value === 'object') return 'an object';
  return String(value);
}
