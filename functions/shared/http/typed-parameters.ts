import { parseDigits } from '../json/exact-numbers.ts';
import type { Scalar } from '../json/shape.ts';
import { PlantStoreError } from './errors.ts';
import type { Middleware } from './request.ts';
import { truncate } from './truncate.ts';

/** The shapes of an operation's parameters by name. */
export interface ParameterShapes {
  pathParameters: Record<string, Scalar>;
  queryStringParameters: Record<string, Scalar>;
}

/**
 * Converts the event's parameters to the types of the contract, and removes all others. Text that cannot be converted
 * stays a string, which the validator rejects.
 *
 * @throws 400 for a path parameter that is not percent-encoded UTF-8
 */
export function typedParameters(shapes: ParameterShapes): Middleware {
  return {
    before: ({ event, internal }) => {
      const path = convertAll(event.pathParameters, shapes.pathParameters, decode);
      const query = convertAll(event.queryStringParameters, shapes.queryStringParameters);
      internal.asSent = { ...internal.asSent, pathParameters: path.texts, queryStringParameters: query.texts };
      event.pathParameters = path.values;
      event.queryStringParameters = query.values;
    },
  };
}

/** Returns the texts and the values of the parameters that have a shape. */
function convertAll(
  sent: Record<string, unknown> | null,
  shapes: Record<string, Scalar>,
  decodeText = (text: string, _name: string) => text,
) {
  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const text = sent?.[name];
    if (typeof text !== 'string') continue;
    texts[name] = decodeText(text, name);
    values[name] = convert(texts[name], shape);
  }
  return { texts, values };
}

/**
 * Decodes a path parameter. "Amazon API Gateway important notes" says that API Gateway decodes parameters, and then
 * encodes "%" in those of the path. This is right whether it has decoded the path or not.
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

function convert(text: string, shape: Scalar): unknown {
  if (shape === 'int64') return parseDigits(text) ?? text;
  if (shape === 'int32' && parseDigits(text) !== undefined) return Number(text);
  if (shape === 'number' && JSON_NUMBER.test(text)) return Number(text);
  if (shape === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
