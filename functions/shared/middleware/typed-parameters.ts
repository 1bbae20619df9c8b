import { parseDigits } from '../exact-numbers.ts';
import type { Middleware } from '../request.ts';

export type ParameterType = 'int64' | 'number' | 'boolean' | 'string';

/** The types of an operation's parameters by name. A query parameter with a type in a list can be repeated. */
export interface ParameterTypes {
  pathParameters: Record<string, ParameterType>;
  queryStringParameters: Record<string, ParameterType | [ParameterType]>;
}

/**
 * Converts the event's parameters to the types of the contract, and removes all others. Text that cannot be converted
 * stays a string, which the validator rejects.
 */
export function typedParameters({ pathParameters, queryStringParameters }: ParameterTypes): Middleware {
  return {
    before: ({ event }) => {
      const { pathParameters: path, queryStringParameters: query, multiValueQueryStringParameters: queries } = event;
      const typedPath = Object.entries(pathParameters).map(([name, type]) => [name, convert(path?.[name], type)]);
      const typedQuery = Object.entries(queryStringParameters).map(([name, type]) => [
        name,
        Array.isArray(type) ? queries?.[name]?.map((text) => convert(text, type[0])) : convert(query?.[name], type),
      ]);
      Object.assign(event, {
        pathParameters: Object.fromEntries(typedPath),
        queryStringParameters: Object.fromEntries(typedQuery),
      });
    },
  };
}

/** RFC 8259, section 6. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

function convert(text: string | undefined, type: ParameterType): unknown {
  if (text === undefined) return undefined;
  if (type === 'int64') return parseDigits(text) ?? text;
  if (type === 'number' && JSON_NUMBER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
