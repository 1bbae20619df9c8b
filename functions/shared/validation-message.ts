import type { ErrorObject } from 'ajv';
import { InexactNumber } from './exact-id.ts';

/** A part of the compiled schema, as far as a message depends on it. */
interface Schema {
  type?: string;
  int64?: true;
  /** An object's; the others have none. */
  properties: Record<string, Schema>;
}

/** An error of a validator that was compiled with `verbose`. */
export type ValidationError = ErrorObject & { parentSchema: Schema };

/** A sentence for each member that is wrong, with what it was and what it must be. */
export function validationMessage(errors: ValidationError[]): string {
  return errors.map(fault).join(' ');
}

function fault({ keyword, instancePath, params, parentSchema, data }: ValidationError): string {
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return `The member ${missing} is missing; it must be ${requirement(parentSchema.properties[missing])}.`;
  }
  const member = instancePath.slice('/body/'.length);
  const digits = data instanceof InexactNumber && data.needsPlainDigits ? ', beyond 2^53 in plain digits' : '';
  return `The ${member ? `member ${member}` : 'body'} was ${description(data)}; it must be ${requirement(parentSchema)}${digits}.`;
}

function requirement(schema: Schema | undefined): string {
  if (schema?.int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (schema?.type === 'string') return 'a string of well-formed Unicode';
  return 'a JSON object';
}

/** A million digits would make a message of a million. */
const MAX_SHOWN = 40;

function description(value: unknown): string {
  if (value instanceof InexactNumber) {
    return value.source.length > MAX_SHOWN ? `${value.source.slice(0, MAX_SHOWN)}…` : value.source;
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value.isWellFormed() ? 'a string' : 'a string with a lone surrogate';
  if (typeof value === 'object') return 'an object';
  return String(value);
}
