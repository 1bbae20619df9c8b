import { mapValues } from '../map-values.ts';
import type { Middleware } from '../request.ts';
import { wholeNumber } from './exact-numbers.ts';

export type ParameterType = 'int64' | 'number' | 'boolean' | 'string';

/** An operation's parameters by their names; a list of a type is a query parameter that may be repeated. */
export interface ParameterTypes {
  pathParameters: Record<string, ParameterType>;
  queryStringParameters: Record<string, ParameterType | [ParameterType]>;
}

/**
 * Gives the event's parameters the types that the contract has for them. A text that is none of its type
 * stays a text, for the validator to refuse; parameters that the contract does not have are left out.
 */
export function typedParameters({ pathParameters, queryStringParameters }: ParameterTypes): Middleware {
  return {
    before: ({ event }) => {
      const { pathParameters: path, queryStringParameters: query, multiValueQueryStringParameters: queries } = event;
      Object.assign(event, {
        pathParameters: mapValues(pathParameters, (type, name) => value(path?.[name], type)),
        queryStringParameters: mapValues(queryStringParameters, (type, name) =>
          Array.isArray(type) ? queries?.[name]?.map((text) => value(text, type[0])) : value(query?.[name], type),
        ),
      });
    },
  };
}

function value(text: string | undefined, type: ParameterType): unknown {
  if (type === 'int64' && text !== undefined) return wholeNumber(text) ?? text;
  // RFC 8259, section 6: a number as JSON has it.
  if (type === 'number' && text !== undefined && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
