import { parseDigits } from '../exact-numbers.ts';
import type { Middleware } from '../request.ts';
import type { ScalarType } from '../value-type.ts';

/** The types of an operation's parameters by name. */
export interface ParameterTypes {
  pathParameters: Record<string, ScalarType>;
  queryStringParameters: Record<string, ScalarType>;
}

/**
 * Converts the event's parameters to the types of the contract, and removes all others. Text that cannot be converted
 * stays a string, which the validator rejects.
 */
export function typedParameters({ pathParameters, queryStringParameters }: ParameterTypes): Middleware {
  return {
    before: ({ event }) => {
      event.pathParameters = convertAll(event.pathParameters, pathParameters);
      event.queryStringParameters = convertAll(event.queryStringParameters, queryStringParameters);
    },
  };
}

function convertAll(texts: Record<string, unknown> | null, types: Record<string, ScalarType>) {
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, convert(texts?.[name], type)]));
}

/** RFC 8259, section 6. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

function convert(text: unknown, type: ScalarType): unknown {
  if (typeof text !== 'string') return undefined;
  if (type === 'int64') return parseDigits(text) ?? text;
  if (type === 'int32' && parseDigits(text) !== undefined) return Number(text);
  if (type === 'number' && JSON_NUMBER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
