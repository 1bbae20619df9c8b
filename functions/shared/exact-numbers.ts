import type { ValueType } from './value-type.ts';

/** A number in the body that `parseExactly` does not convert to a bigint. `source` is its text in the body. */
export class UnconvertedNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/**
 * Returns `value` with each int64 from `exact`, the result of `parseExactly`. Changes objects and arrays in place.
 */
export function withExactInt64s(type: ValueType, value: unknown, exact: unknown): unknown {
  if (type === 'int64' && typeof value === 'number') return exact;
  if (typeof type === 'string' || !isRecord(value) || !isRecord(exact)) return value;
  for (const name of Object.keys(value)) {
    const inner = Array.isArray(type) ? type[0] : Object.hasOwn(type, name) && type[name];
    if (inner) value[name] = withExactInt64s(inner, value[name], exact[name]);
  }
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

// TypeScript has no type for the reviver's third argument yet.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Parses JSON. An integer becomes a bigint. A fraction, or a form such as 1e18 beyond 2^53, becomes an UnconvertedNumber.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactly(text: string): unknown {
  return parseWithSource(text, (_, value, { source }) =>
    typeof value === 'number' ? exactNumber(value, source) : value,
  );
}

function exactNumber(value: number, source: string): bigint | UnconvertedNumber {
  const plain = parseDigits(source);
  if (plain !== undefined) return plain;
  return Number.isSafeInteger(value) && isInteger(source) ? BigInt(value) : new UnconvertedNumber(source);
}

/**
 * An int64 has at most 19 digits. Converting a million digits to a bigint would take seconds. As in JSON, no zero is first,
 * so that a plant has only one path.
 */
const PLAIN_DIGITS = /^-?(0|[1-9]\d{0,18})$/;

/** Parses up to 19 plain digits. The result can be outside int64. */
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
