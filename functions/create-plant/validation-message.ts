import type { ErrorObject } from 'ajv';

/** A part of the compiled schema, as far as a message depends on it. */
interface Schema {
  type?: string;
  int64?: true;
  /** An object's; the others have none. */
  properties: Record<string, Schema>;
}

/** An error of a validator that was compiled with `verbose`. */
export type ValidationError = ErrorObject & { parentSchema: Schema };

/** One sentence that names each member that is wrong, what it was and what it must be. */
export function validationMessage(errors: ValidationError[]): string {
  return `${errors.map(fault).join('; ')}.`;
}

function fault({ keyword, instancePath, params, parentSchema, data }: ValidationError): string {
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return `${missing} is missing: it must be ${requirement(parentSchema.properties[missing])}`;
  }
  const member = instancePath.slice('/body/'.length) || 'the body';
  return `${member} must be ${requirement(parentSchema)}, but was ${description(data)}`;
}

function requirement(schema: Schema | undefined): string {
  if (schema?.int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (schema?.type === 'string') return 'a string of well-formed Unicode';
  return 'a JSON object';
}

function description(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value.isWellFormed() ? 'a string' : 'a string with a lone surrogate';
  if (typeof value === 'object') return 'an object';
  return String(value);
}
