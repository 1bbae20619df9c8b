import type { Shape } from './shape.ts';

/** A number in JSON as the client sent it, such as `7.0` or `1e999`. */
export class NumberText {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

// TypeScript has no type for the reviver's third argument yet.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Parses JSON, with each number as a NumberText.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseNumbersAsText(text: string): unknown {
  return parseWithSource(text, (_, value, { source }) => (typeof value === 'number' ? new NumberText(source) : value));
}

/**
 * Returns `value` with each int64 as a bigint. One that is not a whole number, or not exact, becomes its NumberText,
 * which the validator rejects. Changes objects and arrays in place.
 *
 * @param texts the same value from `parseNumbersAsText`
 */
export function withInt64s(shape: Shape, value: unknown, texts: unknown): unknown {
  if (shape === 'int64') return texts instanceof NumberText ? toInt64(texts) : value;
  if (typeof shape === 'string' || !isObjectOrArray(value) || !isObjectOrArray(texts)) return value;
  for (const name of Object.keys(value)) {
    const inner = Array.isArray(shape) ? shape[0] : Object.hasOwn(shape, name) && shape[name];
    if (inner) value[name] = withInt64s(inner, value[name], texts[name]);
  }
  return value;
}

function isObjectOrArray(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * 7.0 and 1.5e1 are whole numbers too. Beyond 2^53, such a form could be rounded, so only plain digits are accepted.
 */
function toInt64(text: NumberText): bigint | NumberText {
  const { source } = text;
  const number = Number(source);
  return parseDigits(source) ?? (Number.isSafeInteger(number) && isInteger(source) ? BigInt(number) : text);
}

/**
 * An int64 has at most 19 digits. Converting a million digits to a bigint would take seconds. As in JSON, no zero is
 * first: `/plants/007` is not plant 7.
 */
const PLAIN_DIGITS = /^-?(0|[1-9]\d{0,18})$/;

/** Parses up to 19 plain digits, and returns undefined for other texts. The result can be outside int64. */
export function parseDigits(text: string): bigint | undefined {
  return PLAIN_DIGITS.test(text) ? BigInt(text) : undefined;
}

/** Returns true for a number without a fraction, such as `7.0` or `1.5e1`, and false for `1e-400`. */
function isInteger(source: string): boolean {
  const [, whole = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const shift = Number(exponent);
  const afterPoint = shift >= 0 ? decimals.slice(shift) : whole.slice(shift) + decimals;
  return /^0*$/.test(afterPoint);
}
