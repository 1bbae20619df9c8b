/** A number in the body that `parseExactly` does not convert to a bigint. `source` is its text in the body. */
export class UnconvertedNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** The member names that lead to an int64 of the schema; `*` means every item of an array. */
export type Int64Path = readonly string[];

/** Copies the numbers at a path from `exact`, the result of `parseExactly`. Keeps all other values. */
export function replaceInt64s([member, ...rest]: Int64Path, value: unknown, exact: unknown): void {
  if (!isRecord(value) || !isRecord(exact) || member === undefined) return;
  for (const name of member === '*' ? Object.keys(value) : [member]) {
    if (rest.length > 0) replaceInt64s(rest, value[name], exact[name]);
    else if (typeof value[name] === 'number') value[name] = exact[name];
  }
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

/** An int64 has at most 19 digits. Converting a million digits to a bigint would take seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

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
