// TypeScript has no type for the reviver's third argument yet.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** BigInt cannot parse another form, such as `1e18`. An int64 has at most 19 digits. A million take seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

/**
 * Parses JSON. A whole number below 2^53 stays a number. From 2^53 on, it becomes a bigint if it has up to 19 plain
 * digits. Each other number, such as `1.5` or `1e300`, becomes a symbol with its text as the description: a schema with
 * a type rejects a symbol.
 */
export function parseWithExactNumbers(text: string): unknown {
  return parseWithSource(text, (_key, value, { source }) => {
    if (typeof value !== 'number') return value;
    if (Number.isSafeInteger(value) && isWhole(source)) return value;
    return PLAIN_DIGITS.test(source) ? BigInt(source) : Symbol(source);
  });
}

/** Returns true for a number without a fraction, such as `7.0` or `1.5e1`, and false for `1e-400`. */
function isWhole(source: string): boolean {
  const [, whole = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const shift = Number(exponent);
  const afterPoint = shift >= 0 ? decimals.slice(shift) : whole.slice(shift) + decimals;
  return /^0*$/.test(afterPoint);
}
