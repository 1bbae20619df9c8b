import type { Middleware } from '../request.ts';
import { wholeNumber } from './exact-numbers.ts';

export type ParameterType = 'int64' | 'number' | 'boolean' | 'string';

/** An operation's parameters by their names; a list of a type is a query parameter that may be repeated. */
export interface ParameterTypes {
  pathParameters: Record<string, ParameterType>;
  queryStringParameters: Record<string, ParameterType | [ParameterType]>;
}

/**
 * Gives the event's parameters the types of the contract, and leaves out all others. A text that does not have its type
 * stays a text, which the validator refuses.
 */
export function typedParameters({ pathParameters, queryStringParameters }: ParameterTypes): Middleware {
  return {
    before: ({ event }) => {
      const { pathParameters: path, queryStringParameters: query, multiValueQueryStringParameters: queries } = event;
      const typedPath = Object.entries(pathParameters).map(([name, type]) => [name, value(path?.[name], type)]);
      const typedQuery = Object.entries(queryStringParameters).map(([name, type]) => [
        name,
        Array.isArray(type) ? queries?.[name]?.map((text) => value(text, type[0])) : value(query?.[name], type),
      ]);
      Object.assign(event, {
        pathParameters: Object.fromEntries(typedPath),
        queryStringParameters: Object.fromEntries(typedQuery),
      });
    },
  };
}

/** RFC 8259, section 6: a number as JSON has it. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

function value(text: string | undefined, type: ParameterType): unknown {
  if (text === undefined) return undefined;
  if (type === 'int64') return wholeNumber(text) ?? text;
  if (type === 'number' && NUMBER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
