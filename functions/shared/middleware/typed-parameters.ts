import { PlantStoreError } from '../errors.ts';
import { parseDigits } from '../exact-numbers.ts';
import type { Middleware } from '../request.ts';
import type { ScalarType } from '../value-type.ts';
import { truncate } from './validation-message.ts';

/** The types of an operation's parameters by name. */
export interface ParameterTypes {
  pathParameters: Record<string, ScalarType>;
  queryStringParameters: Record<string, ScalarType>;
}

/**
 * Converts the event's parameters to the types of the contract, and removes all others. Text that cannot be converted
 * stays a string, which the validator rejects.
 *
 * @throws 400 for a path parameter that is not percent-encoded UTF-8
 */
export function typedParameters({ pathParameters, queryStringParameters }: ParameterTypes): Middleware {
  return {
    before: ({ event }) => {
      event.pathParameters = convertAll(event.pathParameters, pathParameters, decode);
      event.queryStringParameters = convertAll(event.queryStringParameters, queryStringParameters);
    },
  };
}

function convertAll(
  texts: Record<string, unknown> | null,
  types: Record<string, ScalarType>,
  decodeText = (text: string, _name: string) => text,
) {
  const converted = Object.entries(types).map(([name, type]) => {
    const text = texts?.[name];
    return [name, typeof text === 'string' ? convert(decodeText(text, name), type) : undefined];
  });
  return Object.fromEntries(converted);
}

/**
 * Decodes a path parameter. API Gateway decodes query parameters, but in recorded events passes path parameters as the
 * client encoded them. "Amazon API Gateway important notes" says that it decodes both and then encodes "%", for which
 * this is right too.
 */
function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new PlantStoreError(400, `The parameter ${name} was "${truncate(text)}"; it must be percent-encoded UTF-8.`);
  }
}

/** RFC 8259, section 6. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

function convert(text: string, type: ScalarType): unknown {
  if (type === 'int64') return parseDigits(text) ?? text;
  if (type === 'int32' && parseDigits(text) !== undefined) return Number(text);
  if (type === 'number' && JSON_NUMBER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
