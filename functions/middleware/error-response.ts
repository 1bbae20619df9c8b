import type { AnySchemaObject, ErrorObject } from 'ajv';
import { INTERNAL_ERROR_MESSAGE, PlantStoreError, truncate } from '../errors.ts';
import type { ApiEvent, Middleware } from './types.ts';

/** Turns a thrown value into a 400 response with an Error (openapi.yaml, `components.schemas.Error`). */
export function errorResponse(): Middleware {
  return {
    onError: (request) => {
      const thrown = toPlantStoreError(request.error);
      // requestLog comes later, and logs this error.
      request.error = thrown;
      // Middy's CORS, which comes next, would throw for an event that is null.
      request.event ??= {} as ApiEvent;
      const { error, headers, message } = thrown;
      request.response = {
        statusCode: 400,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ error, message }),
      };
    },
  };
}

/** The error to send to the client: 400 for what Middy's parser or validator rejects, 500 for any unexpected value. */
function toPlantStoreError(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  // Middy's errors name their package. Their class differs between Middy's versions.
  const cause: { package?: unknown; data?: unknown; message?: string } =
    thrown instanceof Error ? Object(thrown.cause) : {};
  if (cause.package === '@middy/http-json-body-parser')
    return new PlantStoreError(400, parserMessage(cause.data, cause.message));
  if (cause.package === '@middy/validator')
    return new PlantStoreError(400, validationMessage(cause.data as ErrorObject[]));
  return new PlantStoreError(500, INTERNAL_ERROR_MESSAGE, { cause: thrown });
}

function parserMessage(data: unknown, reason?: string): string {
  if (reason !== undefined) return `The body was not JSON (${reason}); it must be a JSON object.`;
  return `The body has the member "${data === 'constructor' ? 'constructor.prototype' : data}", which is not allowed.`;
}

/** Ajv's first errors are those of missing members. Several can give one sentence, as for a number in an `enum`. */
function validationMessage(errors: ErrorObject[]): string {
  return [...new Set(errors.map(describeError))].join(' ');
}

function describeError({ instancePath, keyword, params, parentSchema = {}, data }: ErrorObject): string {
  if (keyword === 'required') {
    const { missingProperty: name } = params;
    return `The member ${name} is missing; it must be ${describeSchema(parentSchema['properties'][name])}.`;
  }
  // The path is that of the event: `/body`, or `/body/name` for a member.
  const [, , member] = instancePath.split('/');
  const subject = member === undefined ? 'The body' : `The member ${member}`;
  const magnitude = keyword === 'int64' && typeof data === 'symbol' ? Math.abs(Number(data.description)) : 0;
  const digits = magnitude >= 2 ** 53 && magnitude <= 2 ** 63 ? ', in plain digits if it is beyond 2^53' : '';
  const expected = keyword === 'wellFormed' ? 'a string of well-formed Unicode' : describeSchema(parentSchema);
  return `${subject} was ${describeValue(keyword, data)}; it must be ${expected}${digits}.`;
}

function describeSchema(schema: AnySchemaObject): string {
  const { type, int64, enum: values, minimum, maximum, minLength, maxLength, pattern } = schema;
  if (int64) return 'a whole number from -9223372036854775808 to 9223372036854775807';
  if (values) return `one of ${values.map((value: unknown) => JSON.stringify(value)).join(', ')}`;
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'object') return 'a JSON object';
  return `a string${describeLength(minLength, maxLength)}${pattern === undefined ? '' : ` that matches ${pattern}`}`;
}

function describeLength(min?: number, max?: number): string {
  if (max === undefined) return min === undefined ? '' : ` of at least ${characters(min)}`;
  return min === undefined ? ` of at most ${characters(max)}` : ` of ${min} to ${characters(max)}`;
}

function describeValue(keyword: string, value: unknown): string {
  // Characters are counted as JSON Schema does, and not in UTF-16 units.
  if (/^(min|max)Length$/.test(keyword)) return `${characters([...String(value)].length)} long`;
  // The text of a number that is not exact.
  if (typeof value === 'symbol') return truncate(String(value.description));
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') {
    if (!value.isWellFormed()) return 'a string with a lone surrogate';
    return keyword === 'enum' || keyword === 'pattern' ? JSON.stringify(truncate(value)) : 'a string';
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}
